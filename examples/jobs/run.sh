#!/bin/bash
# Each rank of a job runs this: train_mnist_mn on the GPU with the rank's number on its host. Arguments are more options.
exec "$CATENARY/libexec/catenary/train_mnist_mn" -g --communicator "${COMMUNICATOR:-flat}" "$@"
