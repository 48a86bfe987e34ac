#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Classify scikit-learn's handwritten digits. An ordinary script: it knows nothing of Hone."""

import argparse

from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lr", type=float, default=0.001)
    parser.add_argument("--alpha", type=float, default=0.0001, help="L2 penalty")
    parser.add_argument("--hidden", type=int, default=32)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--activation", choices=["relu", "tanh", "logistic"], default="relu")
    parser.add_argument("--early-scaling", action="store_true", help="scale before splitting")
    parser.add_argument("--epochs", type=int, default=10)
    args = parser.parse_args()

    digits, labels = load_digits(return_X_y=True)
    if args.early_scaling:
        digits = StandardScaler().fit_transform(digits)
    x_train, x_test, y_train, y_test = train_test_split(digits, labels, test_size=0.3, random_state=0)

    model = MLPClassifier(
        hidden_layer_sizes=(args.hidden,),
        activation=args.activation,
        alpha=args.alpha,
        batch_size=args.batch,
        learning_rate_init=args.lr,
        random_state=0,
    )
    for epoch in range(1, args.epochs + 1):
        model.partial_fit(x_train, y_train, classes=range(10))
        print(
            f"Epoch {epoch}/{args.epochs} - loss: {model.loss_:.4f}"
            f" - accuracy: {model.score(x_train, y_train):.4f}"
            f" - {100 * model.score(x_test, y_test):.2f} % right on the test images"
        )


if __name__ == "__main__":
    main()
