// The common part of all daemons: one loop from start to stop, and signal handling.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/task.hpp"
#include "roles/errors.hpp"

namespace plim::roles {

// Belongs to the loop of run_role(), which destroys it before the loop.
class Role {
 public:
  virtual ~Role() = default;

  // SIGTERM and SIGINT cancel it.
  virtual Task<Outcome<void>> start(Executor loop) = 0;
  // Also called after a start that failed or was cancelled.
  virtual Task<void> stop(std::string reason) = 0;

  virtual void reload() {}  // on SIGHUP, which ends no daemon

  virtual void dump() {}  // on SIGUSR2

  virtual bool tidies_memory() const { return false; }  // returns memory to the system by itself

 protected:
  // Ends the daemon because it cannot continue.
  void give_up(Failure failure) { give_up_(std::move(failure)); }

  // Ends the daemon because its work is done.
  void finish() { finish_(); }

 private:
  friend class RoleRun;
  std::function<void(Failure)> give_up_;
  std::function<void()> finish_;
};

// Runs until SIGTERM or SIGINT, or until the role gives up or finishes. `name` is the component in
// its log lines.
Outcome<int> run_role(std::string_view name, std::unique_ptr<Role> role);

}  // namespace plim::roles
