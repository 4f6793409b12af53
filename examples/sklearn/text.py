"""Short texts as counted words, a linear classifier, and the words that count."""

import numpy as np
from matplotlib import pyplot
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

random = np.random.default_rng(0)
words = {
    "garden": ["seed", "soil", "rain", "flower", "leaf", "root", "sun", "water", "spade", "worm"],
    "kitchen": ["salt", "pan", "oven", "knife", "water", "flour", "egg", "sugar", "spoon", "leaf"],
    "workshop": ["saw", "nail", "hammer", "wood", "knife", "glue", "paint", "spade", "oil", "bench"],
}
texts = [" ".join(random.choice(words[topic], 12)) for topic in words for _ in range(60)]
topics = np.repeat(list(words), 60)
model = make_pipeline(TfidfVectorizer(), LinearSVC()).fit(texts, topics)
names = model[0].get_feature_names_out()
figure, axes = pyplot.subplots(1, 3, figsize=(9, 4))
for axis, topic, plane in zip(axes, model.classes_, model[-1].coef_, strict=True):
    order = np.argsort(plane)[-8:]
    axis.barh(names[order], plane[order])
    axis.set_title(topic)
figure.tight_layout()
pyplot.show()
