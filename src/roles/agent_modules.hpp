// What the node agent does is done by modules: one alone, or several in one process.
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

// What a module may ask of the process that it runs in.
struct ModuleHost {
  Executor loop = {};
  std::function<void(Error)> give_up = {};  // it cannot go on; called at most once per start()
  std::function<void()> finish = {};        // its work is done, so the process is to end
  // From now on the process listens there, and nowhere else.
  std::function<Task<Result<void>>(Addresses)> listen = {};
};

// Belongs to the loop it is started on; co_await stop() before destroying it.
class AgentModule {
 public:
  // `trouble` is the code under which its failures are explained.
  AgentModule(std::string_view name, Plm trouble) : name_(name), trouble_(trouble) {}

  virtual ~AgentModule() = default;

  std::string_view name() const { return name_; }

  Plm trouble() const { return trouble_; }

  // Started again after a stop().
  virtual Task<Result<void>> start(ModuleHost host) = 0;
  // Lets go of everything that the next start() needs. Also after a start that failed.
  virtual Task<void> stop() = 0;

  // SIGHUP, or one of files() has changed. Also while it is down, before it is started again.
  virtual void reload() {}

  virtual std::vector<std::string> files() const { return {}; }

  virtual bool up() const { return true; }  // false: it was asked for, but must not run here

  virtual bool is_vital() const { return false; }  // the process ends with its failure

  virtual bool alive() const { return true; }  // for /healthz

  virtual std::string not_ready() const = 0;  // why, for people; "": it is
  virtual json::value state() const = 0;      // an object, whose members /state shows

  // It measures: what metrics() returns is all that /metrics shows if it is alone, and it gives
  // memory back by itself.
  virtual bool measures() const { return false; }

  // Where it wants to be shown.
  virtual Addresses addresses() const { return {}; }

  // What it shows at one of those besides the registry of the process; null: nothing yet.
  virtual std::shared_ptr<const std::string> metrics(const std::string& address) const;

 private:
  std::string_view name_;
  Plm trouble_;
};

// Those of one process, in the order in which they are started. One that is alone ends with its
// failure, and the process with it; who started the process may start it again. Of several, one
// that fails is started again by itself while the others go on.
class AgentModules {
 public:
  enum class Company { none, others };

  // The process, as far as it is asked for something here.
  struct Process {
    Executor loop = {};
    std::function<void(Failure)> give_up = {};  // one that it cannot do without has failed
    std::function<void()> finish = {};          // one has done what was asked for
    std::function<Task<Result<void>>(Addresses)> listen = {};
  };

  explicit AgentModules(Company company, Clock& clock = system_clock(),
                        Random& random = system_random())
      : company_(company), clock_(&clock), random_(&random) {}

  void add(std::unique_ptr<AgentModule> module);

  // Stays where it is from now on.
  Task<Outcome<void>> start(Process process);
  // Also after a start that failed or was cancelled.
  Task<void> stop();
  void reload();

  bool alive() const;
  std::string not_ready() const;
  json::value state() const;
  bool measures() const;
  Addresses addresses() const;
  // For /metrics of that address; null: nothing yet.
  std::shared_ptr<const std::string> metrics(const std::string& address) const;

 private:
  struct Kept {
    std::unique_ptr<AgentModule> module;
    ModuleHealth health;
    bool running = false;
    std::optional<Failure> failure = {};  // why it is to be stopped
    bool hurried = false;                 // somebody wants it started now
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
