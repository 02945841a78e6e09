#include "roles/role_run.hpp"

#include <exception>
#include <optional>

#include <fmt/format.h>

#include "base/event.hpp"
#include "base/log.hpp"
#include "base/loop.hpp"
#include "base/process.hpp"
#include "base/resident.hpp"
#include "base/signals.hpp"

namespace plim::roles {

constexpr int kInternalExit = 3;

class RoleRun {
 public:
  RoleRun(std::string_view name, std::unique_ptr<Role> role) : name_(name), role_(std::move(role)) {
    role_->give_up_ = [this](Failure failure) {
      failure_ = std::move(failure);
      done_->notify();
    };
    role_->finish_ = [this] {
      finished_ = true;
      done_->notify();
    };
  }

  Task<int> main() {
    Executor loop = co_await current_loop();
    Signals::Options wanted{.reload = true, .dump = true};
    Signals signals(loop, wanted);
    done_ = std::make_unique<Event>(loop);
    TaskGroup starting(loop), watching(loop);
    starting.spawn("start", start(loop));
    watching.spawn("stop", wait_for_stop(&signals, &starting));
    co_await starting.join();
    MemoryTidy tidy(loop);
    if (started_) {
      if (!role_->tidies_memory()) tidy.start();
      watching.spawn("reload", reload_by_signal(&signals));
      watching.spawn("dump", dump_by_signal(&signals));
      while (!stop_ && !failure_ && !finished_) co_await done_->wait();
    } else if (!stop_ && !failure_) {
      failure_ =
          Failure{.code = Plm::internal, .exit = kInternalExit, .what = "the role did not start"};
    }
    co_await tidy.stop();
    co_await watching.stop();
    std::string reason = reason_of(signals);
    if (started_ && !finished_) log::info(name_, "stopping", {{"reason", reason}});
    co_await role_->stop(std::move(reason));
    co_return 0;
  }

  std::optional<Failure> take_failure() { return std::move(failure_); }

 private:
  Task<void> start(Executor loop) {
    Outcome<void> started = co_await role_->start(loop);
    started_ = started.has_value();
    if (!started && !stop_) failure_ = std::move(started.error());
  }

  std::string reason_of(const Signals& signals) const {
    if (failure_) return failure_->what;
    return stop_ ? fmt::format("signal {}", signals.stop_signal()) : "done";
  }

  // A stop signal also cancels a start, which may wait for servers that do not answer.
  Task<void> wait_for_stop(Signals* signals, TaskGroup* starting) {
    co_await signals->stop_requested();
    stop_ = true;
    starting->cancel();
    done_->notify();
  }

  Task<void> reload_by_signal(Signals* signals) {
    for (;;) {
      co_await signals->reload_requested();
      role_->reload();
    }
  }

  Task<void> dump_by_signal(Signals* signals) {
    for (;;) {
      co_await signals->dump_requested();
      role_->dump();
    }
  }

  std::string name_;
  std::unique_ptr<Event> done_;
  std::optional<Failure> failure_;
  bool started_ = false, stop_ = false, finished_ = false;
  std::unique_ptr<Role> role_;
};

Outcome<int> run_role(std::string_view name, std::unique_ptr<Role> role) {
  keep_memory_small();
  try {
    Loop loop;
    RoleRun run(name, std::move(role));
    loop.run(run.main());
    if (auto failure = run.take_failure()) return tl::unexpected(std::move(*failure));
    return 0;
  } catch (const std::exception& e) {
    return tl::unexpected(Failure{.code = Plm::internal, .exit = kInternalExit, .what = e.what()});
  }
}

}  // namespace plim::roles
