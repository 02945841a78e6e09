#include "roles/agent_modules.hpp"

#include <utility>

#include <fmt/format.h>

#include "agent/http_endpoint.hpp"
#include "base/log.hpp"
#include "base/metrics.hpp"
#include "roles/role_run.hpp"

namespace plim::roles {
namespace {

class ModulesRole final : public Role {
 public:
  ModulesRole(std::string_view name, AgentModules modules, std::string listen)
      : name_(name), modules_(std::move(modules)), listen_(std::move(listen)) {}

  Task<Outcome<void>> start(Executor loop) override {
    if (auto served = serve(loop); !served)
      co_return tl::unexpected(daemon_failure(Plm::bad_agent_config, served.error()));
    auto on_fatal = [this](Failure failure) { give_up(std::move(failure)); };
    Outcome<void> started = modules_.start(loop, std::move(on_fatal));
    co_return started;
  }

  Task<void> stop(std::string) override {
    co_await modules_.stop();
    if (server_) co_await server_->drain(net::Millis(0));
    server_.reset();
  }

  void reload() override { modules_.reload(); }

 private:
  Result<void> serve(const Executor& loop) {
    if (listen_.empty()) return {};
    agent::EndpointSource source{
        .metrics =
            [] {
              return std::make_shared<const std::string>(metrics::default_registry().expose());
            },
        .alive = [] { return true; },
        .not_ready = [this] { return modules_.not_ready(); },
        .state = [this] { return modules_.state(); }};
    PLIM_TRY(server_, agent::serve_endpoint(loop, listen_, std::move(source)));
    log::info(name_, "listening", {{"address", server_->address()}});
    return {};
  }

  std::string name_;
  AgentModules modules_;
  std::string listen_;
  std::unique_ptr<net::Server> server_;
};

}  // namespace

void AgentModules::add(std::unique_ptr<AgentModule> module) {
  const std::string_view name = module->name();
  modules_.push_back(std::make_unique<Kept>(
      Kept{.module = std::move(module), .health = ModuleHealth(name, *clock_, *random_)}));
  if (!modules_.back()->module->up()) modules_.back()->health.is_off();
}

Outcome<void> AgentModules::start(const Executor& loop, std::function<void(Failure)> on_fatal) {
  loop_ = loop;
  on_fatal_ = std::move(on_fatal);
  changed_ = std::make_unique<Event>(loop);
  keeping_ = std::make_unique<TaskGroup>(loop);
  for (const auto& kept : modules_) {
    if (!kept->module->up()) continue;
    start_one(*kept);
    if (company_ == Company::others)
      keeping_->spawn(std::string(kept->module->name()), keep(kept.get()));
    else if (!kept->running)
      return tl::unexpected(*kept->failure);
  }
  return {};
}

void AgentModules::start_one(Kept& kept) {
  kept.failure.reset();
  kept.health.started();
  const auto fatal = [this, &kept](const Error& error) {
    kept.failure = daemon_failure(kept.module->trouble(), error);
    if (company_ == Company::none) on_fatal_(*kept.failure);
    changed_->notify();
  };
  auto started = kept.module->start(loop_, fatal);
  kept.running = started.has_value();
  if (!started) kept.failure = daemon_failure(kept.module->trouble(), started.error());
}

// Ends by itself when all are to stop, and is not cancelled: a module that is being stopped must
// have let go of everything before anybody else touches it.
Task<void> AgentModules::keep(Kept* kept) {
  while (!stopping_) {
    if (!kept->failure && kept->health.failing() && kept->module->not_ready().empty())
      kept->health.works();
    if (!kept->failure && kept->health.failing()) {
      (void)co_await changed_->wait_until(*clock_, clock_->steady() + ModuleHealth::kLook);
    } else if (!kept->failure) {
      co_await changed_->wait();
    } else {
      kept->running = kept->hurried = false;
      const SteadyTime again = kept->health.failed(*kept->failure);
      co_await kept->module->stop();
      while (!stopping_ && !kept->hurried && clock_->steady() < again)
        (void)co_await changed_->wait_until(*clock_, again);
      if (!stopping_) start_one(*kept);
    }
  }
}

Task<void> AgentModules::stop() {
  stopping_ = true;
  if (changed_) changed_->notify();
  if (keeping_) co_await keeping_->join();
  for (auto at = modules_.rbegin(); at != modules_.rend(); ++at) co_await (*at)->module->stop();
  keeping_.reset();
  changed_.reset();
}

void AgentModules::reload() {
  for (const auto& kept : modules_) {
    if (kept->running) kept->module->reload();
    kept->hurried = true;  // what was wrong may have been mended
  }
  changed_->notify();
}

std::string AgentModules::not_ready() const {
  std::string out;
  for (const auto& kept : modules_) {
    std::string why;
    if (kept->health.failing())
      why = fmt::format("{}: down: {}", kept->module->name(), kept->health.problem());
    else if (kept->module->up())
      why = kept->module->not_ready();
    if (!why.empty()) out += (out.empty() ? "" : "\n") + why;
  }
  return out;
}

json::value AgentModules::state() const {
  json::object out;
  for (const auto& kept : modules_) {
    json::value one = kept->module->state();
    for (auto& [key, value] : one.as_object()) out[key] = std::move(value);
  }
  return out;
}

Outcome<int> run_modules(std::string_view name, AgentModules modules, std::string listen) {
  return run_role(name, std::make_unique<ModulesRole>(name, std::move(modules), std::move(listen)));
}

std::string agent_listen(const std::string& flag) {
  if (flag == "none") return {};
  return flag.empty() ? kUsualAgentListen : flag;
}

}  // namespace plim::roles
