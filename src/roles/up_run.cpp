#include "roles/up_run.hpp"

#include <chrono>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "base/loop.hpp"
#include "base/signals.hpp"

namespace plim::roles {
namespace {

std::string milestone_line(const std::string& what, Nanos after) {
  return fmt::format("{:8.3f} s  {}", std::chrono::duration<double>(after).count(), what);
}

// Runs one cluster from start to stop. Belongs to one loop.
class UpRun {
 public:
  UpRun(UpSettings settings, UpHooks hooks)
      : settings_(std::move(settings)), hooks_(std::move(hooks)) {
    settings_.cluster.milestone = [this](const std::string& what, Nanos after) {
      hooks_.say(milestone_line(what, after));
    };
  }

  Outcome<int> run() {
    Loop loop;
    loop.run(main());
    cluster_.reset();
    if (failure_) return tl::unexpected(std::move(*failure_));
    return 0;
  }

 private:
  Task<int> main() {
    Executor loop = co_await current_loop();
    Signals signals(loop);
    const local::cluster::ClusterDirectories directories = settings_.cluster.directories;
    cluster_ = std::make_unique<local::cluster::Cluster>(loop, system_clock(),
                                                         std::move(settings_.cluster));
    auto started = co_await cluster_->start();
    if (started) {
      RoleChildren children(loop, system_clock(), *cluster_, directories, settings_.roles,
                            settings_.settings);
      co_await children.register_roles();
      hooks_.ready(*cluster_);
      children.start();
      co_await signals.stop_requested();
      hooks_.say("stopping; a second signal stops immediately");
      co_await children.stop();
    } else {
      failure_ = local_failure(started.error());
    }
    co_await cluster_->stop();
    co_return 0;
  }

  UpSettings settings_;
  UpHooks hooks_;
  std::unique_ptr<local::cluster::Cluster> cluster_;
  std::optional<Failure> failure_;
};

}  // namespace

Outcome<int> run_up(UpSettings settings, UpHooks hooks) {
  return UpRun(std::move(settings), std::move(hooks)).run();
}

}  // namespace plim::roles
