#include "cli/agent_modules.hpp"

#include <utility>

#include <fmt/format.h>

#include "agent/http_endpoint.hpp"
#include "base/log.hpp"
#include "base/metrics.hpp"
#include "cli/role_run.hpp"

namespace plim::cli {
namespace {

class ModulesRole final : public Role {
 public:
  ModulesRole(std::string_view name, AgentModules modules, std::string listen)
      : name_(name), modules_(std::move(modules)), listen_(std::move(listen)) {}

  Task<Outcome<void>> start(Executor loop) override {
    for (const auto& [module, up] : modules_.up())
      metrics::default_registry()
          .gauge("plimsoll_agent_module_up", "1 when it works", {{"module", module}})
          .set(up ? 1 : 0);
    if (auto served = serve(loop); !served)
      co_return tl::unexpected(daemon_failure(Plm::bad_agent_config, served.error()));
    const auto on_fatal = [this](Failure failure) { give_up(std::move(failure)); };
    Outcome<void> started = modules_.start(loop, on_fatal);
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

Failure AgentModules::failure(const AgentModule& module, const Error& error) const {
  Failure out = daemon_failure(module.trouble(), error);
  if (is_one_of_many_) out.what = fmt::format("module {}: {}", module.name(), out.what);
  return out;
}

Outcome<void> AgentModules::start(const Executor& loop,
                                  const std::function<void(Failure)>& on_fatal) {
  for (const auto& module : modules_) {
    if (!module->up()) continue;
    const AgentModule& one = *module;
    auto fatal = [this, &one, on_fatal](const Error& error) { on_fatal(failure(one, error)); };
    if (auto started = module->start(loop, fatal); !started)
      return tl::unexpected(failure(one, started.error()));
  }
  return {};
}

Task<void> AgentModules::stop() {
  for (auto at = modules_.rbegin(); at != modules_.rend(); ++at) co_await (*at)->stop();
}

void AgentModules::reload() {
  for (const auto& module : modules_)
    if (module->up()) module->reload();
}

std::map<std::string, bool> AgentModules::up() const {
  std::map<std::string, bool> out;
  for (const auto& module : modules_) out.emplace(module->name(), module->up());
  return out;
}

std::string AgentModules::not_ready() const {
  std::string out;
  for (const auto& module : modules_) {
    const std::string why = module->up() ? module->not_ready() : "";
    if (!why.empty()) out += (out.empty() ? "" : "\n") + why;
  }
  return out;
}

json::value AgentModules::state() const {
  json::object out;
  for (const auto& module : modules_) {
    json::value one = module->state();
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

}  // namespace plim::cli
