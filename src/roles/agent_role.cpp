#include "roles/agent_role.hpp"

#include <memory>
#include <utility>

#include "agent/http_endpoint.hpp"
#include "base/log.hpp"
#include "roles/role_run.hpp"

namespace plim::roles {
namespace {

constexpr const char* kUsualAgentListen = "127.0.0.1:9101";

// Belongs to one loop.
class AgentRole final : public Role {
 public:
  AgentRole(std::string_view name, AgentModules modules, std::string listen)
      : name_(name), modules_(std::move(modules)), listen_(std::move(listen)) {}

  Task<Outcome<void>> start(Executor loop) override {
    auto source = [this](const std::string& address) { return shown_at(address); };
    auto opened = [this](const std::string& address) { log_address(address); };
    endpoints_ = std::make_unique<agent::Endpoints>(loop, std::move(source), std::move(opened));
    const Result<void> listening = co_await listen_at(addresses());
    if (!listening)
      co_return tl::unexpected(daemon_failure(Plm::bad_agent_config, listening.error()));
    AgentModules::Process process{
        .loop = loop,
        .give_up = [this](Failure failure) { give_up(std::move(failure)); },
        .finish = [this] { finish(); },
        .listen = [this](Addresses wanted) { return listen_at(std::move(wanted)); }};
    Outcome<void> started = co_await modules_.start(std::move(process));
    co_return started;
  }

  Task<void> stop(std::string) override {
    co_await modules_.stop();
    if (endpoints_) co_await endpoints_->stop();
    endpoints_.reset();
  }

  void reload() override { modules_.reload(); }

  bool tidies_memory() const override { return modules_.measures(); }

 private:
  Addresses addresses() const {
    if (modules_.measures()) return modules_.addresses();
    return listen_.empty() ? Addresses() : Addresses{listen_};
  }

  Task<Result<void>> listen_at(Addresses wanted) { return endpoints_->open(std::move(wanted)); }

  // Scripts search the log for either line.
  void log_address(const std::string& address) const {
    if (modules_.measures())
      log::info("agent", "metrics at http://" + address + "/metrics");
    else
      log::info(name_, "listening", {{"address", address}});
  }

  agent::EndpointSource shown_at(const std::string& address) {
    return {.metrics = [this, address] { return modules_.metrics(address); },
            .alive = [this] { return modules_.alive(); },
            .not_ready = [this] { return modules_.not_ready(); },
            .state = [this] { return modules_.state(); }};
  }

  std::string name_;
  AgentModules modules_;
  std::string listen_;
  std::unique_ptr<agent::Endpoints> endpoints_;
};

}  // namespace

Outcome<int> run_agent(AgentSettings settings) {
  using Company = AgentModules::Company;
  const int count = int{settings.measure.has_value()} + int{settings.pools.has_value()} +
                    int{settings.images.has_value()};
  const Company company = count > 1 ? Company::others : Company::none;
  AgentModules modules(company);
  std::string_view name = "agent";
  if (settings.measure)
    modules.add(
        std::make_unique<MeasureModule>(std::move(*settings.measure), company, settings.listen));
  if (settings.pools) {
    auto pools = PoolsModule::make(std::move(*settings.pools), company);
    if (!pools) return tl::unexpected(std::move(pools).error());
    if (count == 1) name = (*pools)->name();
    modules.add(std::move(*pools));
  }
  if (settings.images) {
    auto images = ImagesModule::make(std::move(*settings.images));
    if (!images) return tl::unexpected(std::move(images).error());
    if (count == 1) name = (*images)->name();
    modules.add(std::move(*images));
  }
  return run_modules(name, std::move(modules), std::move(settings.listen));
}

Outcome<int> run_modules(std::string_view name, AgentModules modules, std::string listen) {
  return run_role(name, std::make_unique<AgentRole>(name, std::move(modules), std::move(listen)));
}

std::string agent_listen(const std::string& flag) {
  if (flag == "none") return {};
  return flag.empty() ? kUsualAgentListen : flag;
}

}  // namespace plim::roles
