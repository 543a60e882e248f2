#include "catenary/datasets/distributions.h"

#include "catenary/core/environment.h"
#include "catenary/core/format.h"

namespace catenary::datasets {

const std::vector<Distribution>& distributions() {
  static const std::vector<Distribution> all = {
      {"mnist",
       "mnist",
       "",
       {{"train-images-idx3-ubyte.gz", 9719438, "0b367032e93c5d0cea0925647cfdb18614af8ee15f83e6f2fc2ad904a6835971"},
        {"train-labels-idx1-ubyte.gz", 28857, "1787548bbe0bff1ec2ecdc0ef292b02df999e2d1a6002d27500982c652b17203"},
        {"t10k-images-idx3-ubyte.gz", 1616508, "1a1a05eab793c14bb050b398624a11b0ffd1a2953baed553b1b9bd079e2a20be"},
        {"t10k-labels-idx1-ubyte.gz", 4517, "b91679a0acfe4ba0e50a2437a903084cba1f5f92592b016a25a7dfd00455798b"}}},
      {"fashion-mnist",
       "fashion-mnist",
       "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
       {{"train-images-idx3-ubyte.gz", 26421880, "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84"},
        {"train-labels-idx1-ubyte.gz", 29515, "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845"},
        {"t10k-images-idx3-ubyte.gz", 4422102, "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073"},
        {"t10k-labels-idx1-ubyte.gz", 5148, "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5"}}},
      {"cifar-10",
       "",
       "https://www.cs.toronto.edu/~kriz/",
       {{"cifar-10-binary.tar.gz", 170052171, "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd"}},
       "cifar-10-batches-bin"},
      {"cifar-100",
       "",
       "https://www.cs.toronto.edu/~kriz/",
       {{"cifar-100-binary.tar.gz", 168513733, "58a81ae192c23a4be8b1804d68e518ed807d710a4eb253b1f2a199162a40d8ec"}},
       "cifar-100-binary"},
  };
  return all;
}

const Distribution& distribution(const std::string& name) {
  std::vector<std::string> names;
  for (const Distribution& d : distributions()) {
    if (d.name == name) return d;
    names.emplace_back(d.name);
  }
  fail<ValueError>("no dataset is called '{}'; there are {}", name, fmt::join(names, ", "));
}

std::string data_folder() {
  const std::string named = environment::text("CATENARY_DATA");
  return named.empty() ? "data" : named;
}

std::string folder_of(const Distribution& d) { return *d.folder ? data_folder() + "/" + d.folder : data_folder(); }

}  // namespace catenary::datasets
