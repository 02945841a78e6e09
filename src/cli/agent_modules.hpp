// What the node agent can do beside measuring: modules, alone or several in one process.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "cli/errors.hpp"

namespace plim::cli {

// Belongs to the loop it is started on; co_await stop() before destroying it.
class AgentModule {
 public:
  // `trouble` is the code under which its failures are explained.
  AgentModule(std::string_view name, Plm trouble) : name_(name), trouble_(trouble) {}

  virtual ~AgentModule() = default;

  std::string_view name() const { return name_; }

  Plm trouble() const { return trouble_; }

  // `on_fatal` is called at most once, when it cannot go on.
  virtual Result<void> start(const Executor& loop, std::function<void(Error)> on_fatal) = 0;
  virtual Task<void> stop() = 0;  // also after a start that failed

  virtual void reload() {}  // SIGHUP

  virtual bool up() const { return true; }  // false: it was asked for, but must not run here

  virtual std::string not_ready() const = 0;  // why, for people; "": it is
  virtual json::value state() const = 0;      // an object with one member of its name
 private:
  std::string_view name_;
  Plm trouble_;
};

// Those of one process, in the order in which they are started.
class AgentModules {
 public:
  // `is_one_of_many`: failures name their module.
  explicit AgentModules(bool is_one_of_many) : is_one_of_many_(is_one_of_many) {}

  void add(std::unique_ptr<AgentModule> module) { modules_.push_back(std::move(module)); }

  bool empty() const { return modules_.empty(); }

  // `on_fatal`: one of them cannot go on, so the process is to end.
  Outcome<void> start(const Executor& loop, const std::function<void(Failure)>& on_fatal);
  Task<void> stop();
  void reload();

  std::map<std::string, bool> up() const;
  std::string not_ready() const;
  json::value state() const;

 private:
  Failure failure(const AgentModule& module, const Error& error) const;

  bool is_one_of_many_;
  std::vector<std::unique_ptr<AgentModule>> modules_;
};

// A process without measuring, until it is told to stop. `name` is the part of its lines in the
// log, `listen` where all of them are shown; "": nowhere.
Outcome<int> run_modules(std::string_view name, AgentModules modules, std::string listen);

// Of --metrics-listen: where modules are shown unless somebody says otherwise, "" with `none`.
inline constexpr const char* kUsualAgentListen = "127.0.0.1:9101";
std::string agent_listen(const std::string& flag);

}  // namespace plim::cli
