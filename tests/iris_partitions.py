"""Data behind the reference numbers: standardized iris and five partitions of it."""

import numpy as np
from sklearn.datasets import load_iris
from sklearn.preprocessing import StandardScaler

_IRIS = load_iris()
_PETAL = _IRIS.data[:, 2]

X = StandardScaler().fit_transform(_IRIS.data)
A = _IRIS.target
B = np.digitize(_PETAL, [2.5, 4.8])
C = np.where(np.arange(150) == 0, 3, A)
D = np.arange(150) % 4
E = np.digitize(_PETAL, [2.5, 4, 5, 6])
ONE = np.zeros(150, dtype=int)
PARTITIONS = {"A": A, "B": B, "C": C, "D": D, "E": E}
