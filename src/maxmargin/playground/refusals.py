"""What cannot be answered."""


class Refused(ValueError):
    """A message that cannot be answered: the sentence that the user reads, and the field that it is about."""

    def __init__(self, sentence: str, field: str) -> None:
        super().__init__(sentence)
        self.sentence, self.field = sentence, field
