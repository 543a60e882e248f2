#include "catenary/core/os/process.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "catenary/core/format.h"
#include "catenary/core/os/windows/detail.h"

namespace catenary::os {

namespace {

/// A pipe whose ends a child may inherit.
struct Pipe {
  Owned read, write;
  Pipe() {
    HANDLE ends[2];
    if (!::CreatePipe(&ends[0], &ends[1], nullptr, 1 << 16)) fail_last("run_process", "no pipe");
    read = Owned(ends[0]);
    write = Owned(ends[1]);
  }
};

/// Quotes a word as programs of Windows take their command lines apart: backslashes count only before a quotation mark.
std::string quoted(const std::string& word) {
  if (!word.empty() && word.find_first_of(" \t\n\v\"") == std::string::npos) return word;
  std::string result = "\"";
  std::size_t backslashes = 0;
  for (const char c : word) {
    if (c == '"') result.append(backslashes + 1, '\\');
    backslashes = c == '\\' ? backslashes + 1 : 0;
    result += c;
  }
  return result.append(backslashes, '\\') + '"';
}

bool same_name(const std::wstring& a, const std::wstring& b) {
  return ::CompareStringOrdinal(a.c_str(), static_cast<int>(a.size()), b.c_str(), static_cast<int>(b.size()), TRUE) ==
         CSTR_EQUAL;
}

/// Returns our environment with these variables changed, as NAME=VALUE.
std::vector<std::wstring> entries_with(const std::vector<std::pair<std::string, std::string>>& changes) {
  std::vector<std::wstring> result;
  wchar_t* const all = ::GetEnvironmentStringsW();
  for (const wchar_t* entry = all; entry && *entry; entry += std::wcslen(entry) + 1) {
    const std::wstring text = entry, name = text.substr(0, text.find(L'=', 1));
    const auto changed = [&](const auto& change) { return same_name(wide(change.first), name); };
    if (!std::any_of(changes.begin(), changes.end(), changed)) result.push_back(text);
  }
  if (all) ::FreeEnvironmentStringsW(all);
  for (const auto& [name, value] : changes) result.push_back(wide(name + "=" + value));
  return result;
}

/// Runs in a thread: reads a stream to its end.
void read_stream(HANDLE stream, std::string& to, std::size_t most) {
  char buffer[65536];
  for (DWORD n = 0; ::ReadFile(stream, buffer, sizeof buffer, &n, nullptr) && n > 0;)
    to.append(buffer, std::min<std::size_t>(n, most - std::min(most, to.size())));
}

struct Started {
  Owned process, job;
};

/// Starts a program that inherits these three streams alone, in a job, so that its children end with it.
Started start(const std::vector<std::string>& command, const ProcessOptions& options, HANDLE in, HANDLE out,
              HANDLE err) {
  std::string line;
  for (const std::string& word : command) line += (line.empty() ? "" : " ") + quoted(word);
  std::wstring words = wide(line), environment;
  for (const std::wstring& entry : entries_with(options.environment)) environment += entry + L'\0';
  environment += L'\0';
  HANDLE streams[] = {in, out, err};
  for (HANDLE stream : streams) ::SetHandleInformation(stream, HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT);
  SIZE_T size = 0;
  ::InitializeProcThreadAttributeList(nullptr, 1, 0, &size);
  std::vector<std::byte> memory(size);
  STARTUPINFOEXW info{};
  info.lpAttributeList = reinterpret_cast<PPROC_THREAD_ATTRIBUTE_LIST>(memory.data());
  ::InitializeProcThreadAttributeList(info.lpAttributeList, 1, 0, &size);
  ::UpdateProcThreadAttribute(info.lpAttributeList, 0, PROC_THREAD_ATTRIBUTE_HANDLE_LIST, streams, sizeof streams,
                              nullptr, nullptr);
  info.StartupInfo.cb = sizeof info;
  info.StartupInfo.dwFlags = STARTF_USESTDHANDLES;
  info.StartupInfo.hStdInput = in;
  info.StartupInfo.hStdOutput = out;
  info.StartupInfo.hStdError = err;
  Started result;
  result.job = Owned(::CreateJobObjectW(nullptr, nullptr));
  PROCESS_INFORMATION process{};
  const bool fine = ::CreateProcessW(nullptr, words.data(), nullptr, nullptr, TRUE,
                                     CREATE_SUSPENDED | CREATE_UNICODE_ENVIRONMENT | EXTENDED_STARTUPINFO_PRESENT,
                                     environment.data(), nullptr, &info.StartupInfo, &process);
  const DWORD code = ::GetLastError();
  ::DeleteProcThreadAttributeList(info.lpAttributeList);
  if (!fine) fail_with(command[0], "cannot start the program", code);
  result.process = Owned(process.hProcess);
  const Owned thread(process.hThread);
  JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits{};
  limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
  ::SetInformationJobObject(result.job.get(), JobObjectExtendedLimitInformation, &limits, sizeof limits);
  ::AssignProcessToJobObject(result.job.get(), process.hProcess);
  ::ResumeThread(process.hThread);
  return result;
}

/// Returns the number of the signal that would have ended the process on other systems, or 0 if it exited.
int signal_of(DWORD code) {
  switch (code) {
    case EXCEPTION_ACCESS_VIOLATION:
    case EXCEPTION_STACK_OVERFLOW:
    case EXCEPTION_IN_PAGE_ERROR:
      return 11;
    case EXCEPTION_ILLEGAL_INSTRUCTION:
      return 4;
    case EXCEPTION_INT_DIVIDE_BY_ZERO:
      return 8;
    case static_cast<DWORD>(STATUS_CONTROL_C_EXIT):
      return 2;
    default:
      return 0;
  }
}

}  // namespace

ProcessResult run_process(const std::vector<std::string>& command, const ProcessOptions& options) {
  if (command.empty()) fail<ValueError>("run_process: no program is named");
  Pipe in, out, err;
  ::SetHandleInformation(in.read.get(), HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT);
  const Started started = start(command, options, in.read.get(), out.write.get(), err.write.get());
  in.read.close();
  out.write.close();
  err.write.close();
  ProcessResult result;
  std::thread output([&] { read_stream(out.read.get(), result.output, options.max_output); });
  std::thread errors([&] { read_stream(err.read.get(), result.errors, options.max_output); });
  std::thread input([&] {
    for (std::string_view rest = options.input; !rest.empty();) {
      DWORD n = 0;
      if (!::WriteFile(in.write.get(), rest.data(), static_cast<DWORD>(std::min<std::size_t>(rest.size(), 65536)), &n,
                       nullptr))
        break;  // the program does not read its input
      rest.remove_prefix(n);
    }
    in.write.close();
  });
  const DWORD limit = options.timeout > 0 ? static_cast<DWORD>(1000 * options.timeout) : INFINITE;
  result.timed_out = ::WaitForSingleObject(started.process.get(), limit) == WAIT_TIMEOUT;
  // also the children that still hold the streams
  ::TerminateJobObject(started.job.get(), 1);
  ::WaitForSingleObject(started.process.get(), INFINITE);
  for (std::thread* const thread : {&input, &output, &errors}) thread->join();
  DWORD code = 0;
  ::GetExitCodeProcess(started.process.get(), &code);
  result.signal = result.timed_out ? 9 : signal_of(code);
  result.exit_code = result.signal != 0 ? -1 : static_cast<int>(code);
  return result;
}

std::vector<std::string> environment_entries() {
  std::vector<std::string> result;
  for (const std::wstring& entry : entries_with({})) result.push_back(narrow(entry));
  return result;
}

void set_environment_default(const std::string& name, const std::string& value) {
  // changes the environment of the system and that of getenv
  if (::GetEnvironmentVariableW(wide(name).c_str(), nullptr, 0) == 0)
    ::_wputenv_s(wide(name).c_str(), wide(value).c_str());
}

int process_id() { return static_cast<int>(::GetCurrentProcessId()); }

int usable_processors() {
  DWORD_PTR mine = 0, all = 0;
  if (::GetProcessAffinityMask(::GetCurrentProcess(), &mine, &all) && mine != 0)
    return std::popcount(static_cast<std::uint64_t>(mine));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

int online_processors() { return std::max(1, static_cast<int>(::GetActiveProcessorCount(ALL_PROCESSOR_GROUPS))); }

std::string host_name() {
  wchar_t name[256] = {};
  DWORD size = 256;
  return ::GetComputerNameExW(ComputerNameDnsHostname, name, &size) ? narrow({name, size}) : "localhost";
}

std::string boot_number() { return {}; }

int fork_count() { return 0; }

void at_exit(void (*f)(int status)) {
  // The system does not tell functions of atexit the status.
  static std::vector<void (*)(int)> wanted;
  wanted.push_back(f);
  if (wanted.size() == 1)
    std::atexit([] {
      for (auto i = wanted.rbegin(); i != wanted.rend(); ++i) (*i)(0);
    });
}

void end_process(int status) {
  std::fflush(nullptr);
  ::TerminateProcess(::GetCurrentProcess(), static_cast<UINT>(status));
  std::abort();
}

}  // namespace catenary::os
