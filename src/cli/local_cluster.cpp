#include "cli/local_cluster.hpp"

#include <csignal>
#include <poll.h>
#include <sys/syscall.h>
#include <thread>

#include <fmt/format.h>

#include "base/fd.hpp"
#include "base/loop.hpp"
#include "cli/local_flags.hpp"
#include "kube/status.hpp"
#include "local/cluster/leftovers.hpp"
#include "net/client.hpp"

namespace plim::cli {
namespace {

constexpr int kLastMoment = 2'000;  // milliseconds

Task<Result<net::Response>> call(std::string socket, net::Request request,
                                 net::CallOptions options) {
  Executor loop = co_await current_loop();
  PLIM_CO_TRY(auto client, net::Client::create(loop, "unix://" + socket));
  co_return co_await client->send(std::move(request), options);
}

}  // namespace

Outcome<local::cluster::ClusterDirectories> directories_of(const Context& context) {
  const std::string& name = context.values.text("name");
  // The default of --name is empty for commands where that means all clusters. An empty name from
  // the command line is an error, such as an unset variable.
  const bool is_default = name.empty() && !context.values.given("name");
  auto found = local::cluster::find_directories(is_default ? kName.fallback : name,
                                                context.values.text("dir"), context.world.env);
  if (!found) return tl::unexpected(local_failure(found.error()));
  return std::move(*found);
}

Outcome<pid_t> running_pid(const local::cluster::ClusterDirectories& directories) {
  if (auto pid = local::cluster::holder_of(directories.lock())) return *pid;
  return tl::unexpected(Failure{.code = Plm::not_running,
                                .exit = 4,
                                .what = fmt::format("cluster {} is not running", directories.name),
                                .tried = directories.run});
}

Outcome<json::value> ask_cluster(const local::cluster::ClusterDirectories& directories,
                                 std::string path, json::value body,
                                 std::chrono::milliseconds timeout) {
  PLIM_CLI_TRY(pid_t pid, running_pid(directories));
  net::Request request{.path = std::move(path)};
  if (!body.is_null()) {
    request.method = "POST";
    request.body = to_json(body);
    request.headers.set("Content-Type", "application/json");
  }
  const std::string tried =
      fmt::format("{} (process {})", directories.control_socket(), static_cast<int>(pid));
  Loop loop;
  net::CallOptions options{.timeout = timeout};
  auto answer = run_to_end(loop, call(directories.control_socket(), std::move(request), options));
  if (!answer) return tl::unexpected(request_failure(answer.error(), tried));
  if (answer->status >= 300)
    return tl::unexpected(request_failure(
        kube::error_from_answer(answer->status, answer->headers, answer->body), tried));
  auto value = parse_json(answer->body, "answer");
  if (!value) return tl::unexpected(request_failure(value.error(), tried));
  return std::move(*value);
}

Outcome<bool> stop_cluster(const local::cluster::ClusterDirectories& directories,
                           std::chrono::milliseconds timeout) {
  auto pid = local::cluster::holder_of(directories.lock());
  if (!pid) {
    Loop loop;
    run_to_end(loop, local::cluster::end_leftovers(directories));
    return false;
  }
  const Fd process(static_cast<int>(::syscall(SYS_pidfd_open, *pid, 0)));
  if (::kill(*pid, SIGTERM) != 0 && errno != ESRCH)
    return tl::unexpected(
        local_failure(fail_errno(errno, fmt::format("cannot stop process {}", *pid))));
  // The process holds the lock until it has stopped everything, so wait for a free lock.
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (local::cluster::holder_of(directories.lock()) == pid) {
    if (std::chrono::steady_clock::now() > deadline)
      return tl::unexpected(Failure{
          .code = Plm::timed_out,
          .exit = 5,
          .what = fmt::format("process {} of cluster {} has not ended yet", *pid, directories.name),
          .next = "its pods may need their grace period; wait, or use a longer --timeout"});
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  // A process closes its files, and frees the lock, shortly before it ends.
  pollfd ended{.fd = process.get(), .events = POLLIN, .revents = 0};
  if (process) (void)::poll(&ended, 1, kLastMoment);
  return true;
}

}  // namespace plim::cli
