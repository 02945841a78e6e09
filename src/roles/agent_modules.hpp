// The modules of the node agent. A process runs one module or several.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/event.hpp"
#include "base/json.hpp"
#include "base/random.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "roles/errors.hpp"
#include "roles/module_health.hpp"

namespace plim::roles {

using Addresses = std::vector<std::string>;

// The functions of the process that a module may call.
struct ModuleHost {
  Executor loop = {};
  std::function<void(Error)> give_up = {};  // it cannot continue; called at most once per start()
  std::function<void()> finish = {};  // the module has done its work and the process should end
  // From now on the process listens on these addresses only.
  std::function<Task<Result<void>>(Addresses)> listen = {};
};

// A module belongs to the loop it is started on; co_await stop() before destroying it.
class AgentModule {
 public:
  // `trouble` is the error code of its failures.
  AgentModule(std::string_view name, Plm trouble) : name_(name), trouble_(trouble) {}

  virtual ~AgentModule() = default;

  std::string_view name() const { return name_; }

  Plm trouble() const { return trouble_; }

  // Also called again after stop().
  virtual Task<Result<void>> start(ModuleHost host) = 0;
  // Releases everything that the next start() needs. Also called after a failed start.
  virtual Task<void> stop() = 0;

  // Called on SIGHUP and when one of files() has changed, also while the module is down.
  virtual void reload() {}

  virtual std::vector<std::string> files() const { return {}; }

  virtual bool up() const { return true; }  // false: it is configured, but must not run here

  virtual bool is_vital() const { return false; }  // true: its failure ends the process

  virtual bool alive() const { return true; }  // for /healthz

  virtual std::string not_ready() const = 0;  // the reason, for people; "" if the module is ready
  virtual json::value state() const = 0;      // an object; /state shows its members

  // True for the module that measures. If it runs alone, /metrics shows only metrics(). It returns
  // memory to the system by itself.
  virtual bool measures() const { return false; }

  // The addresses where the module wants the process to listen.
  virtual Addresses addresses() const { return {}; }

  // Metrics at one of these addresses, in addition to the registry of the process; null: none yet.
  virtual std::shared_ptr<const std::string> metrics(const std::string& address) const;

 private:
  std::string_view name_;
  Plm trouble_;
};

// The modules of one process, in the order in which they start. If a module that runs alone fails,
// the process ends and its supervisor may restart it. If there are several modules, a failed module
// is restarted while the others continue.
class AgentModules {
 public:
  enum class Company { none, others };

  // The functions of the process that the modules use.
  struct Process {
    Executor loop = {};
    std::function<void(Failure)> give_up = {};  // a vital module has failed
    std::function<void()> finish = {};          // a module has done its work
    std::function<Task<Result<void>>(Addresses)> listen = {};
  };

  explicit AgentModules(Company company, Clock& clock = system_clock(),
                        Random& random = system_random())
      : company_(company), clock_(&clock), random_(&random) {}

  void add(std::unique_ptr<AgentModule> module);

  // Do not move this object after the call.
  Task<Outcome<void>> start(Process process);
  // Also call it after a start that failed or was cancelled.
  Task<void> stop();
  void reload();

  bool alive() const;
  std::string not_ready() const;
  json::value state() const;
  bool measures() const;
  Addresses addresses() const;
  // The text of /metrics at this address; null: none yet.
  std::shared_ptr<const std::string> metrics(const std::string& address) const;

 private:
  struct Kept {
    std::unique_ptr<AgentModule> module;
    ModuleHealth health;
    bool running = false;
    std::optional<Failure> failure = {};  // why the module must stop
    bool hurried = false;                 // start it now, without waiting for the backoff
  };

  bool is_restarted(const Kept& kept) const;
  Task<void> start_one(Kept* kept);
  Task<void> keep(Kept* kept);
  Task<void> watch_files(Kept* kept);
  void reload_one(Kept& kept);

  Company company_;
  Clock* clock_;
  Random* random_;
  std::vector<std::unique_ptr<Kept>> modules_;
  Process process_;
  std::unique_ptr<Event> changed_;
  std::unique_ptr<TaskGroup> keeping_, watching_;
  bool stopping_ = false;
};

}  // namespace plim::roles
