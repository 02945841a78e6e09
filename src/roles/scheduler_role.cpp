#include "roles/scheduler_role.hpp"

#include <cerrno>
#include <chrono>
#include <memory>
#include <sched.h>
#include <vector>

#include "base/file_watch.hpp"
#include "base/files.hpp"
#include "base/log.hpp"
#include "base/metrics.hpp"
#include "roles/role_run.hpp"

namespace plim::roles {
namespace {

constexpr std::chrono::milliseconds kConfigSettle{1000};

// If CPUs are busy, this process does not interrupt the API server for every answer, and handles
// several per wake-up (docs/decisions/scheduler-cost.md). If a CPU is idle, nothing changes. A
// policy that somebody chose stays.
void prefer_batches() {
  const sched_param none{};
  if (::sched_getscheduler(0) != SCHED_OTHER) return;
  if (::sched_setscheduler(0, SCHED_BATCH | SCHED_RESET_ON_FORK, &none) != 0)
    log::debug("scheduler", "cannot become a batch process",
               {{"error", fail_errno(errno, "sched_setscheduler")}});
}

// Belongs to one loop.
class SchedulerRole final : public Role {
 public:
  explicit SchedulerRole(SchedulerSettings settings) : settings_(std::move(settings)) {}

  Task<Outcome<void>> start(Executor loop) override {
    prefer_batches();
    tasks_ = std::make_unique<TaskGroup>(loop);
    auto on_lost = [this] {
      give_up(Failure{.code = Plm::refused,
                      .exit = 1,
                      .what = "cannot renew the lease in time",
                      .next = "restart the scheduler; it waits until it can lead"});
    };
    service_ = std::make_unique<sched::Service>(loop, settings_.service,
                                                metrics::default_registry(), on_lost);
    auto started = service_->start();
    if (!started) {
      const bool is_mistake = started.error().code == Code::invalid;
      co_return tl::unexpected(daemon_failure(
          is_mistake ? Plm::bad_scheduler_config : Plm::bad_environment, started.error()));
    }
    log::info("scheduler", "started", {{"address", service_->address()}});
    if (!settings_.config_path.empty()) tasks_->spawn("configuration", watch_config(loop));
    co_return Outcome<void>();
  }

  Task<void> stop(std::string) override {
    co_await tasks_->stop();
    co_await service_->stop();
  }

  void reload() override {
    if (settings_.config_path.empty()) return;
    service_->reload(read_scheduler_config(settings_.config_path, settings_.read));
  }

  void dump() override { service_->daemon().dump(); }

 private:
  Task<void> watch_config(Executor loop) {
    FileWatch::Options options{.settle = kConfigSettle};
    std::vector<std::string> paths{settings_.config_path};
    auto watch = FileWatch::open(loop, std::move(paths), options);
    if (!watch) {
      log::error("scheduler", "cannot watch the configuration; send SIGHUP to reread it",
                 {{"error", watch.error()}});
      co_return;
    }
    for (;;) {
      co_await (*watch)->next();
      reload();
    }
  }

  SchedulerSettings settings_;
  std::unique_ptr<sched::Service> service_;
  std::unique_ptr<TaskGroup> tasks_;
};

}  // namespace

Result<sched::ConfigRead> read_scheduler_config(const std::string& path,
                                                const sched::ReadConfigOptions& options) {
  PLIM_TRY(const std::string text, read_file(path));
  return sched::read_configuration(text, path, options);
}

Outcome<int> run_scheduler(SchedulerSettings settings) {
  return run_role("scheduler", std::make_unique<SchedulerRole>(std::move(settings)));
}

}  // namespace plim::roles
