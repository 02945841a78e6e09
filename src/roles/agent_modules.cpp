#include "roles/agent_modules.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/file_watch.hpp"
#include "base/log.hpp"
#include "base/metrics.hpp"

namespace plim::roles {

std::shared_ptr<const std::string> AgentModule::metrics(const std::string&) const {
  return nullptr;
}

void AgentModules::add(std::unique_ptr<AgentModule> module) {
  const std::string_view name = module->name();
  modules_.push_back(std::make_unique<Kept>(
      Kept{.module = std::move(module), .health = ModuleHealth(name, *clock_, *random_)}));
  if (!modules_.back()->module->up()) modules_.back()->health.is_off();
}

bool AgentModules::is_restarted(const Kept& kept) const {
  return company_ == Company::others && !kept.module->is_vital();
}

Task<Outcome<void>> AgentModules::start(Process process) {
  process_ = std::move(process);
  changed_ = std::make_unique<Event>(process_.loop);
  keeping_ = std::make_unique<TaskGroup>(process_.loop);
  watching_ = std::make_unique<TaskGroup>(process_.loop);
  for (const auto& kept : modules_) {
    if (!kept->module->up()) continue;
    co_await start_one(kept.get());
    if (!kept->running && !is_restarted(*kept)) co_return tl::unexpected(*kept->failure);
  }
  for (const auto& kept : modules_) {
    if (!kept->module->up()) continue;
    const std::string name(kept->module->name());
    if (is_restarted(*kept)) keeping_->spawn(name, keep(kept.get()));
    if (!kept->module->files().empty())
      watching_->spawn("files of " + name, watch_files(kept.get()));
  }
  co_return Outcome<void>();
}

Task<void> AgentModules::start_one(Kept* kept) {
  kept->failure.reset();
  kept->health.started();
  ModuleHost host{.loop = process_.loop,
                  .give_up =
                      [this, kept](const Error& error) {
                        kept->failure = daemon_failure(kept->module->trouble(), error);
                        if (!is_restarted(*kept)) process_.give_up(*kept->failure);
                        changed_->notify();
                      },
                  .finish = process_.finish,
                  .listen = process_.listen};
  const Result<void> started = co_await kept->module->start(std::move(host));
  kept->running = started.has_value();
  if (!started) kept->failure = daemon_failure(kept->module->trouble(), started.error());
}

// Runs one module until all must stop. Not cancelled: a module that is stopping must release
// everything before another task uses it.
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
      if (!stopping_) co_await start_one(kept);
    }
  }
}

// Files that a kubelet mounts from a ConfigMap change without a signal.
Task<void> AgentModules::watch_files(Kept* kept) {
  auto watch = FileWatch::open(process_.loop, kept->module->files());
  if (!watch) {
    log::info("agent", "cannot watch the configuration; send SIGHUP to reread it",
              {{"reason", watch.error()}});
    co_return;
  }
  for (;;) {
    (void)co_await (*watch)->next();
    reload_one(*kept);
  }
}

Task<void> AgentModules::stop() {
  stopping_ = true;
  if (watching_) co_await watching_->stop();
  if (changed_) changed_->notify();
  if (keeping_) co_await keeping_->join();
  for (auto at = modules_.rbegin(); at != modules_.rend(); ++at) co_await (*at)->module->stop();
  watching_.reset();
  keeping_.reset();
  changed_.reset();
}

void AgentModules::reload() {
  for (const auto& kept : modules_) reload_one(*kept);
}

void AgentModules::reload_one(Kept& kept) {
  if (!kept.module->up()) return;
  kept.module->reload();
  kept.hurried = true;  // the change may have fixed the failure
  changed_->notify();
}

bool AgentModules::alive() const {
  return std::ranges::all_of(modules_, [](const auto& kept) { return kept->module->alive(); });
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

bool AgentModules::measures() const {
  return std::ranges::any_of(modules_, [](const auto& kept) { return kept->module->measures(); });
}

Addresses AgentModules::addresses() const {
  Addresses out;
  for (const auto& kept : modules_)
    std::ranges::move(kept->module->addresses(), std::back_inserter(out));
  return out;
}

std::shared_ptr<const std::string> AgentModules::metrics(const std::string& address) const {
  std::shared_ptr<const std::string> measured;
  for (const auto& kept : modules_)
    if (auto text = kept->module->metrics(address)) measured = std::move(text);
  if (company_ == Company::none && measures()) return measured;
  std::string out = measured ? *measured : "";
  out += metrics::default_registry().expose();
  return std::make_shared<const std::string>(std::move(out));
}

}  // namespace plim::roles
