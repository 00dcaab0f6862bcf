"""Stage one on many computers, by Dask (the optional extra ``distributed``); nothing else in the program knows of it.

The code of stage one is the same everywhere. What is dear in it are jobs that `task.at_once` hands to a task's runner:
pure functions of the data that all jobs share and of a range of rows, cells or edges. Here is a runner that has Dask's
workers do them (`cluster`). Data that all jobs share does not go through the network: large arrays lie in files that
every worker maps into its memory, so that it reads what it needs of them, and the system drops it again (`shared`).
Results come back in the order of the jobs, so nothing depends on how many workers there are or who is done first.

Only this package imports Dask, and only inside functions: without a scheduler the program never loads it.
"""
