#pragma once
// Facts about the system, the user of this process, and the time where the user is.

#include <cstdint>
#include <ctime>
#include <string>
#include <vector>

#include "catenary/core/export.h"

namespace catenary::os {

/// Returns a name such as "Linux 6.1.0-21-amd64 x86_64".
CT_API std::string system_name();
/// Returns the user's name, or number if there is no name.
CT_API std::string user_name();
/// Returns the numbers of the groups that this process belongs to.
CT_API std::vector<std::uint32_t> process_groups();

/// Returns the code page of this process's texts on Windows. Other systems have UTF-8, 65001.
CT_API int code_page();

/// Returns a time in the time zone of this process.
CT_API std::tm local_time(std::time_t time);

/// Opens a file for reading and writing. Returns "" on success, else the name of the error ("ENOENT", "EACCES",
/// "EPERM", …).
CT_API std::string open_error(const std::string& path);
/// Returns whether this process may write to a folder, or make it.
CT_API bool is_writable_folder(const std::string& path);
/// Returns NAME-UID in the system's folder for temporary files, without making it. Throws FileError.
CT_API std::string temporary_folder_of_user(const std::string& name);
/// Returns the folder for files that this user can make again: XDG_CACHE_HOME, ~/.cache or LOCALAPPDATA. "" if unknown.
CT_API std::string user_cache_folder();
/// Returns the number of the group that owns a file, or -1 if it does not exist.
CT_API std::int64_t owner_group(const std::string& path);
/// Returns the target of a symbolic link, or "".
CT_API std::string link_target(const std::string& path);

/// Return the bytes of the file system that holds a folder: free for this user, and in all. 0 if unknown.
CT_API std::uint64_t free_bytes(const std::string& path);
CT_API std::uint64_t total_bytes(const std::string& path);
/// Returns whether a folder is on a known network file system (NFS, SMB, Lustre, …).
CT_API bool is_network_folder(const std::string& path);

}  // namespace catenary::os
