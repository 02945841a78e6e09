#include "local/cluster/directories.hpp"

#include <algorithm>
#include <array>
#include <fcntl.h>
#include <filesystem>
#include <set>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/durable_directory.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/process.hpp"
#include "base/text.hpp"

namespace plim::local::cluster {
namespace {

constexpr std::size_t kLongestName = 40;
// A socket's path holds 107 bytes. The longest path below the run directory, for a node with a name
// of usual length, is "/n12/pod-resources/kubelet.sock" or a plugin's socket of about that size.
constexpr std::size_t kLongestRun = 60;

bool is_name(std::string_view name) {
  auto good = [](char c) { return (c >= 'a' && c <= 'z') || is_digit(c) || c == '-'; };
  return !name.empty() && name.size() <= kLongestName && name.front() != '-' &&
         name.back() != '-' && std::ranges::all_of(name, good);
}

Result<std::string> state_directory(std::string_view name, const kube::GetEnv& env) {
  if (auto state = env("XDG_STATE_HOME"); state && state->starts_with('/'))
    return fmt::format("{}/plimsoll/local/{}", *state, name);
  if (auto home = env("HOME"); home && home->starts_with('/'))
    return fmt::format("{}/.local/state/plimsoll/local/{}", *home, name);
  return fail(Code::invalid,
              "cannot choose a directory for files: neither XDG_STATE_HOME nor HOME is set");
}

std::string run_directory(std::string_view name, const kube::GetEnv& env) {
  if (auto runtime = env("XDG_RUNTIME_DIR"); runtime && runtime->starts_with('/')) {
    std::string out = fmt::format("{}/plimsoll/{}", *runtime, name);
    if (out.size() <= kLongestRun && ::access(runtime->c_str(), W_OK) == 0) return out;
  }
  if (::geteuid() == 0 && ::access("/run", W_OK) == 0) return fmt::format("/run/plimsoll/{}", name);
  return fmt::format("/tmp/plimsoll-{}/{}", ::geteuid(), name);
}

// Whether only this user can change what is in the directory.
Result<void> check_ours(const std::string& path) {
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0)
    return fail_errno(errno, fmt::format("cannot stat {}", path));
  if (!S_ISDIR(info.st_mode)) return fail_errno(ENOTDIR, fmt::format("cannot use {}", path));
  if (info.st_uid != ::geteuid())
    return fail(Code::forbidden, fmt::format("{} belongs to user {}; use a directory of your own",
                                             path, info.st_uid));
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return fail(Code::forbidden,
                fmt::format("others may write to {}; chmod go-w {} and try again", path, path));
  return {};
}

bool is_in_tmp(std::string_view path) {
  return path.starts_with("/tmp/plimsoll-");
}

// Files of another user may name any process and any path, so nothing in such a directory is read.
Result<void> check_if_there(const std::string& path) {
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0) return {};
  return check_ours(path);
}

Result<void> check_run(const std::string& run) {
  if (is_in_tmp(run)) PLIM_CHECK(check_if_there(run.substr(0, run.rfind('/'))));
  return check_if_there(run);
}

// Whether `up` makes run directories of this cluster there. A note may name only such a place,
// since `reset` removes it.
bool is_run_directory(const std::string& path, std::string_view name) {
  const std::filesystem::path at(path);
  const std::string parent = at.parent_path().filename().string();
  return at.is_absolute() && at.lexically_normal() == at && at.filename() == name &&
         (parent == "plimsoll" || at.parent_path() == fmt::format("/tmp/plimsoll-{}", ::geteuid()));
}

// A value that a running cluster has written to its file; "" if there is none.
std::string noted(const std::string& file, std::string_view key) {
  auto text = read_file(file);
  if (!text) return "";
  auto value = parse_json(*text, file);
  return value ? std::string(text_at(*value, {key})) : "";
}

}  // namespace

Result<ClusterDirectories> find_directories(std::string_view name, std::string_view directory,
                                            const kube::GetEnv& env) {
  if (!is_name(name))
    return fail(Code::invalid, fmt::format("{} cannot name a cluster: up to {} of a-z, 0-9 and -",
                                           quote(name), kLongestName));
  ClusterDirectories out{.name = std::string(name), .state = {}, .run = run_directory(name, env)};
  if (!directory.empty()) {
    std::error_code problem;
    auto absolute = std::filesystem::absolute(directory, problem).lexically_normal().string();
    if (problem) return fail_errno(problem.value(), fmt::format("cannot use {}", directory));
    while (absolute.size() > 1 && absolute.ends_with('/')) absolute.pop_back();
    out.state = std::move(absolute);
  } else {
    PLIM_TRY(out.state, state_directory(name, env));
  }
  PLIM_CHECK(check_run(out.run));
  PLIM_CHECK(check_if_there(out.state));
  // The cluster may have been started with --dir, or in a session with another XDG_RUNTIME_DIR.
  if (holder_of(out.lock())) {
    if (std::string state = noted(out.running(), "stateDirectory"); !state.empty()) {
      PLIM_CHECK(check_if_there(state));
      out.state = std::move(state);
    }
  } else if (std::string run = noted(out.endpoints(), "runDirectory");
             is_run_directory(run, name)) {
    PLIM_CHECK(check_run(run));
    if (holder_of(run + "/lock")) out.run = std::move(run);
  }
  return out;
}

std::vector<ClusterDirectories> known_clusters(const kube::GetEnv& env) {
  namespace fs = std::filesystem;
  std::set<std::string> names;
  auto collect = [&names](const fs::path& parent) {
    std::error_code problem;  // an unreadable directory holds no cluster of ours
    for (fs::directory_iterator at(parent, problem), end; !problem && at != end;
         at.increment(problem))
      names.insert(at->path().filename().string());
  };
  constexpr std::string_view kAny = "any";
  if (auto state = state_directory(kAny, env)) collect(fs::path(*state).parent_path());
  collect(fs::path(run_directory(kAny, env)).parent_path());
  std::vector<ClusterDirectories> out;
  for (const std::string& name : names) {
    auto found = find_directories(name, "", env);
    if (found && (holder_of(found->lock()) || read_file(found->endpoints())))
      out.push_back(std::move(*found));
  }
  return out;
}

Result<void> make_private(const std::string& path) {
  auto slash = path.find_last_of('/');
  std::string parent = slash == path.npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
  if (slash != path.npos && slash > 0) {
    // Parents get the default mode, except below /tmp, where another user may own any name.
    if (is_in_tmp(parent)) {
      PLIM_CHECK(make_private(parent));
    } else {
      PLIM_CHECK(make_durable_directories(parent));
    }
  }
  if (::mkdir(path.c_str(), 0700) == 0) {
    PLIM_CHECK(sync_directory(parent));
  } else if (errno != EEXIST) {
    return fail_errno(errno, fmt::format("cannot make directory {}", path));
  }
  PLIM_CHECK(check_ours(path));
  if (::chmod(path.c_str(), 0700) != 0)
    return fail_errno(errno, fmt::format("cannot set the mode of {}", path));
  return {};
}

std::optional<pid_t> holder_of(const std::string& lock) {
  Fd fd(::open(lock.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!fd || ::flock(fd.get(), LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK) return std::nullopt;
  std::array<char, 32> text{};
  ssize_t n = ::pread(fd.get(), text.data(), text.size(), 0);
  std::string_view digits(text.data(), n > 0 ? static_cast<std::size_t>(n) : 0);
  auto pid = parse_int<pid_t>(trim(digits));
  // After a kill, a child that was just forked may hold the lock for a moment.
  if (!pid || !process_runs(*pid)) return std::nullopt;
  return *pid;
}

Result<FileLock> take_lock(const ClusterDirectories& directories) {
  auto lock = FileLock::acquire(directories.lock());
  if (lock || lock.error().code != Code::already_exists) return lock;
  if (auto pid = holder_of(directories.lock()))
    return fail(Code::already_exists, fmt::format("cluster {} is running already, as process {}",
                                                  directories.name, *pid));
  return lock;
}

}  // namespace plim::local::cluster
