#pragma once
// Private: exchanges serialized objects between the ranks of a group.

#include <cstdint>
#include <vector>

#include "catenary/distributed/packing.h"

namespace catenary::distributed {

class Group;

/// Returns the root's object on all ranks.
Object bcast_object(Group& group, Object object, int root);
/// Returns all ranks' objects, on the root, or on all ranks if it is -1.
std::vector<Object> gather_objects(Group& group, const Object& object, int root);
/// Returns this rank's entry of the root's objects.
Object scatter_objects(Group& group, const std::vector<Object>& objects, std::uint64_t type, int root);

/// Returns the objects of all ranks, for code below Communicator.
template <Packable T>
std::vector<T> allgather(Group& group, const T& x) {
  Packer packer;
  pack(packer, x);
  std::vector<T> all;
  for (const Object& object : gather_objects(group, {1, packer.bytes()}, -1)) {
    Unpacker unpacker(object.bytes);
    unpack(unpacker, all.emplace_back());
  }
  return all;
}
/// Returns rank 0's object.
template <Packable T>
T bcast(Group& group, const T& x) {
  Packer packer;
  pack(packer, x);
  const Object object = bcast_object(group, {1, packer.bytes()}, 0);
  Unpacker unpacker(object.bytes);
  T value{};
  unpack(unpacker, value);
  return value;
}

}  // namespace catenary::distributed
