"""Make the tables, the figures and the page of the study from the rows."""
