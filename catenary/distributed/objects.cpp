#include "catenary/distributed/objects.h"

#include "catenary/core/format.h"
#include "catenary/distributed/collectives.h"

namespace catenary::distributed {

namespace {

Part part_of(const Object& object) {
  return {{.bytes = object.bytes.size(), .type = object.type}, object.bytes.data()};
}

/// Allocates memory for a rank's object.
void* room_in(Object& object, const Head& head) {
  object.bytes.resize(head.bytes);
  return object.bytes.data();
}

}  // namespace

Object bcast_object(Group& group, Object object, int root) {
  group.bcast(fmt::format("bcast_obj of type {:x} from rank {}", object.type, root), part_of(object), root,
              [&](int, const Head& head) { return room_in(object, head); });
  return object;
}

std::vector<Object> gather_objects(Group& group, const Object& object, int root) {
  const std::size_t n = root < 0 || group.rank() == root ? static_cast<std::size_t>(group.size()) : 0;
  std::vector<Object> objects(n);
  const Part part = part_of(object);
  group.exchange(root < 0 ? fmt::format("allgather_obj of type {:x}", object.type)
                          : fmt::format("gather_obj of type {:x} to rank {}", object.type, root),
                 copies(part, flags(group, root)), std::vector<bool>(static_cast<std::size_t>(group.size()), n > 0),
                 [&](int from, const Head& head) { return room_in(objects[static_cast<std::size_t>(from)], head); });
  return objects;
}

Object scatter_objects(Group& group, const std::vector<Object>& objects, std::uint64_t type, int root) {
  std::vector<Part> parts;
  if (group.rank() == root)
    for (const Object& object : objects) parts.push_back(part_of(object));
  Object own{type, {}};
  group.exchange(fmt::format("scatter_obj of type {:x} from rank {}", type, root),
                 group.rank() == root ? addresses(parts) : nothing(group), flags(group, root),
                 [&](int, const Head& head) { return room_in(own, head); });
  return own;
}

}  // namespace catenary::distributed
