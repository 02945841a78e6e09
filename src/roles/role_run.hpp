// What daemons have in common: one loop from start to stop, and signals in between.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/task.hpp"
#include "roles/errors.hpp"

namespace plim::roles {

// Lives on the loop of run_role(), which destroys it before the loop.
class Role {
 public:
  virtual ~Role() = default;

  // Cancelled by a signal that comes meanwhile.
  virtual Task<Outcome<void>> start(Executor loop) = 0;
  // Also after a start that failed or was cancelled.
  virtual Task<void> stop(std::string reason) = 0;

  virtual void reload() {}  // SIGHUP, which ends no daemon

  virtual void dump() {}  // SIGUSR2

  virtual bool tidies_memory() const { return false; }  // it gives memory back by itself

 protected:
  // Something happened after which it cannot go on.
  void give_up(Failure failure) { give_up_(std::move(failure)); }

  // It has done what it was asked for.
  void finish() { finish_(); }

 private:
  friend class RoleRun;
  std::function<void(Failure)> give_up_;
  std::function<void()> finish_;
};

// Until SIGTERM, SIGINT, or until it gives up or has finished. `name` is the part of its lines in
// the log.
Outcome<int> run_role(std::string_view name, std::unique_ptr<Role> role);

}  // namespace plim::roles
