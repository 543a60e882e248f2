#pragma once
// Private: of the command line tools. What the system says of itself and of the user who runs this process.

#include <cstdint>
#include <string>
#include <vector>

#include "catenary/core/export.h"

namespace catenary::os {

/// "Linux 6.1.0-21-amd64 x86_64".
CT_API std::string system_name();
/// The user's name, or number where it has none.
CT_API std::string user_name();
/// Numbers of the groups that this process belongs to.
CT_API std::vector<std::uint32_t> process_groups();

/// What comes of opening a file for reading and writing: "" where it can be done, else the name of the error ("ENOENT",
/// "EACCES", "EPERM", …).
CT_API std::string open_error(const std::string& path);
/// May this process write into a folder, or make it?
CT_API bool is_writable_folder(const std::string& path);
/// NAME-UID below the system's place for temporary files; it is not made. Throws FileError.
CT_API std::string temporary_folder_of_user(const std::string& name);
/// The number of the group that owns a file, or -1 where it is not there.
CT_API std::int64_t owner_group(const std::string& path);
/// What a symbolic link points to, or "".
CT_API std::string link_target(const std::string& path);

/// Bytes of the file system that holds a folder: free for this user, in all; 0 where it cannot be asked.
CT_API std::uint64_t free_bytes(const std::string& path);
CT_API std::uint64_t total_bytes(const std::string& path);
/// Does a folder lie on a network (NFS, SMB, Lustre, …), as far as is known?
CT_API bool is_network_folder(const std::string& path);

}  // namespace catenary::os
