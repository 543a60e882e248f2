#!/bin/bash
# What each rank of a job runs: the example, on the GPU of its number on its host. More options come behind.
exec "$CATENARY/bin/train_mnist_mn" -g --communicator "${COMMUNICATOR:-flat}" "$@"
