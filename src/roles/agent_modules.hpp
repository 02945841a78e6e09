// What the node agent can do beside measuring: modules, alone or several in one process.
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

// Belongs to the loop it is started on; co_await stop() before destroying it.
class AgentModule {
 public:
  // `trouble` is the code under which its failures are explained.
  AgentModule(std::string_view name, Plm trouble) : name_(name), trouble_(trouble) {}

  virtual ~AgentModule() = default;

  std::string_view name() const { return name_; }

  Plm trouble() const { return trouble_; }

  // `on_fatal` is called at most once, when it cannot go on. Started again after a stop().
  virtual Result<void> start(const Executor& loop, std::function<void(Error)> on_fatal) = 0;
  // Lets go of everything that the next start() needs. Also after a start that failed.
  virtual Task<void> stop() = 0;

  virtual void reload() {}  // SIGHUP, while it runs

  virtual bool up() const { return true; }  // false: it was asked for, but must not run here

  virtual std::string not_ready() const = 0;  // why, for people; "": it is
  virtual json::value state() const = 0;      // an object with one member of its name
 private:
  std::string_view name_;
  Plm trouble_;
};

// Those of one process, in the order in which they are started. One that is alone ends with its
// failure, and the process with it, for whoever starts that again. Of several, one that fails is
// started again by itself while the others go on.
class AgentModules {
 public:
  enum class Company { none, others };

  explicit AgentModules(Company company, Clock& clock = system_clock(),
                        Random& random = system_random())
      : company_(company), clock_(&clock), random_(&random) {}

  void add(std::unique_ptr<AgentModule> module);

  bool empty() const { return modules_.empty(); }

  // `on_fatal`: the only one cannot go on, so the process is to end. Stays where it is from now on.
  Outcome<void> start(const Executor& loop, std::function<void(Failure)> on_fatal);
  Task<void> stop();
  void reload();

  std::string not_ready() const;
  json::value state() const;

 private:
  struct Kept {
    std::unique_ptr<AgentModule> module;
    ModuleHealth health;
    bool running = false;
    std::optional<Failure> failure = {};  // why it is to be stopped
    bool hurried = false;                 // somebody wants it started now
  };

  void start_one(Kept& kept);
  Task<void> keep(Kept* kept);

  Company company_;
  Clock* clock_;
  Random* random_;
  std::vector<std::unique_ptr<Kept>> modules_;
  Executor loop_;
  std::function<void(Failure)> on_fatal_;
  std::unique_ptr<Event> changed_;
  std::unique_ptr<TaskGroup> keeping_;
  bool stopping_ = false;
};

// A process without measuring, until it is told to stop. `name` is the part of its lines in the
// log, `listen` where all of them are shown; "": nowhere.
Outcome<int> run_modules(std::string_view name, AgentModules modules, std::string listen);

// Of --metrics-listen: where modules are shown unless somebody says otherwise, "" with `none`.
inline constexpr const char* kUsualAgentListen = "127.0.0.1:9101";
std::string agent_listen(const std::string& flag);

}  // namespace plim::roles
