"""The playground: a page in the browser that shows the library at work, served to this machine, or to a class.

    messages    what the page and the server say to each other; limits, and what is refused
    catalogue   the algorithms and their parameters; presets, lessons
    fits        a state becomes a fitted estimator with its certificate, and can be stopped; compiled code is kept warm
    answers     who answers which question
    shown       what is seen of a fit: planes, streets, hulls, rows, bounds, conditions, theorems
    steps       a run, update by update or round by round, with the arithmetic of each
    challenge   a line that the user drew against the best one
    code        the Python program and the command line that reproduce what is seen
    seats       browsers that were let in, and whose turn it is to be worked for
    server      the page, and a websocket for the questions
    serving     a port, a token, an address; until Ctrl-C

Starlette and uvicorn are imported when a server is made, never before: `pip install "maxmargin[play]"` brings them.
"""
