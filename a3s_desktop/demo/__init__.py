"""Demo data made by the program: synthetic ladybirds, and scikit-learn's digits."""
