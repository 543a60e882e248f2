#pragma once
// Private: objects as bytes, between the ranks of a group.

#include <cstdint>
#include <vector>

#include "catenary/distributed/packing.h"

namespace catenary::distributed {

class Group;

/// The root's, on all ranks.
Object bcast_object(Group& group, Object object, int root);
/// All ranks', on the root, or on all where it is -1.
std::vector<Object> gather_objects(Group& group, const Object& object, int root);
/// The root's, one for each rank.
Object scatter_objects(Group& group, const std::vector<Object>& objects, std::uint64_t type, int root);

/// What all ranks of a group give, for code below Communicator, where both sides are of one place.
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
/// What rank 0 gives.
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
