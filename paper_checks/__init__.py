"""Three papers read claim by claim, the verdicts that a run of the theorems gives, and reports."""
