"""From rows to tables, figures and the page of the study."""
