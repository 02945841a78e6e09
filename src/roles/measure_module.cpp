#include "roles/measure_module.hpp"

#include <cerrno>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/log.hpp"

namespace plim::roles {
namespace {

// Creates the directory only if it is configured: measuring writes no records.
void prepare_run_directory(const std::string& directory) {
  if (directory.empty()) return;
  auto made = make_directories(directory);
  if (made && ::access(directory.c_str(), W_OK) != 0)
    made = fail_errno(errno, fmt::format("cannot write to {}", directory));
  if (!made) log::warn("agent", "the agent keeps no locks and records", {{"reason", made.error()}});
}

}  // namespace

MeasureModule::MeasureModule(MeasureSettings settings, AgentModules::Company company,
                             std::string listen)
    : AgentModule("measure", Plm::bad_agent_config), settings_(std::move(settings)) {
  settings_.runner.alone = company == AgentModules::Company::none;
  if (!settings_.runner.alone) settings_.runner.usual_listen = std::move(listen);
  prepare_run_directory(settings_.run_dir);
  if (settings_.dry_run)
    log::info("agent", "dry run: the agent writes nothing to cgroups and resctrl");
}

Task<Result<void>> MeasureModule::start(ModuleHost host) {
  host_ = std::move(host);
  stopping_ = false;
  changed_ = std::make_unique<Event>(host_.loop);
  keeping_ = std::make_unique<TaskGroup>(host_.loop);
  iterating_ = std::make_unique<TaskGroup>(host_.loop);
  PLIM_CO_CHECK(co_await begin());
  keeping_->spawn("measure", keep());
  co_return Result<void>();
}

Task<void> MeasureModule::stop() {
  stopping_ = true;
  if (changed_) changed_->notify();
  if (keeping_) co_await keeping_->join();
  co_await end_runner();
  keeping_.reset();
  iterating_.reset();
  changed_.reset();
}

Task<Result<void>> MeasureModule::begin() {
  reread_ = false;
  ended_.reset();
  PLIM_CO_CHECK(co_await host_.listen(addresses()));
  PLIM_CO_TRY(runner_, agent::MeasureRunner::make(host_.loop, system_clock(),
                                                  settings_.config.measure, settings_.runner));
  co_return Result<void>();
}

Task<void> MeasureModule::end_runner() {
  if (iterating_) {
    iterating_->cancel();
    co_await iterating_->join();
  }
  if (runner_) co_await runner_->stop();
  runner_.reset();
}

// Runs until the module stops. Not cancelled: a runner must stop completely.
Task<void> MeasureModule::keep() {
  for (;;) {
    iterating_->spawn("iterations", iterate());
    while (!ended_ && !reread_ && !stopping_) co_await changed_->wait();
    co_await end_runner();
    if (stopping_) co_return;
    std::optional<Error> failure;
    if (!reread_ && ended_) {
      if (*ended_) {
        host_.finish();
        co_return;
      }
      failure = ended_->error();
    }
    const Result<void> begun = co_await begin_or_go_back(std::move(failure));
    if (!begun) {
      host_.give_up(begun.error());
      co_return;
    }
  }
}

// A valid file may still require something that this machine does not have. Then the old
// configuration runs again.
Task<Result<void>> MeasureModule::begin_or_go_back(std::optional<Error> failure) {
  if (!failure) {
    Result<void> begun = co_await begin();
    if (begun) co_return begun;
    failure = begun.error();
  }
  if (!before_) co_return *failure;
  log::error("agent", "the agent cannot run the new configuration and keeps the old one",
             {{"error", failure->message}});
  settings_.config = *std::exchange(before_, std::nullopt);
  co_return co_await begin();
}

Task<void> MeasureModule::iterate() {
  Result<void> ended = co_await runner_->run();
  ended_ = std::move(ended);
  changed_->notify();
}

void MeasureModule::reload() {
  auto loaded = agent::load_config(settings_.config_path, settings_.env);
  const auto can = loaded ? agent::can_run(loaded->config) : Result<void>(loaded.error());
  if (!can) {
    log::error("agent", "cannot reread the configuration; the old one stays",
               {{"error", can.error()}});
    return;
  }
  log::info("agent", "configuration reread");
  if (runner_ != nullptr && !ended_ && !reread_) before_ = std::move(settings_.config);
  settings_.config = std::move(loaded->config);
  reread_ = true;
  if (changed_) changed_->notify();
}

std::string MeasureModule::not_ready() const {
  return runner_ == nullptr || !runner_->ready() ? "measure: no iteration yet" : "";
}

json::value MeasureModule::state() const {
  return runner_ == nullptr ? json::value(json::object()) : runner_->state();
}

Addresses MeasureModule::addresses() const {
  return agent::scrape_addresses(settings_.config.measure, settings_.runner);
}

std::shared_ptr<const std::string> MeasureModule::metrics(const std::string& address) const {
  if (runner_ == nullptr) return nullptr;
  for (const auto& scrape : runner_->scrapes())
    if (scrape->listen == address) return scrape->text;
  return nullptr;
}

}  // namespace plim::roles
