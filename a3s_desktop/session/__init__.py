"""One door to a project: every change a user can make is one transactional method of ``Session``."""
