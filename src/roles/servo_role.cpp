#include "roles/servo_role.hpp"

#include <memory>
#include <unistd.h>

#include "base/durable_directory.hpp"
#include "base/metrics.hpp"
#include "roles/role_run.hpp"
#include "servo/daemon.hpp"

namespace plim::roles {
namespace {

constexpr const char* kStateOfRoles = "/var/lib/plimsoll";  // shared with other roles
constexpr const char* kServoState = "/var/lib/plimsoll/servo";

// Belongs to one loop. Ignores SIGHUP: it checks the token file before every post anyway.
class ServoRole final : public Role {
 public:
  explicit ServoRole(ServoSettings settings) : settings_(std::move(settings)) {}

  Task<Outcome<void>> start(Executor loop) override {
    if (auto made = make(loop); !made) co_return tl::unexpected(failure(made.error()));
    auto started = co_await daemon_->start();
    if (!started) co_return tl::unexpected(failure(started.error()));
    co_return Outcome<void>();
  }

  Task<void> stop(std::string reason) override {
    if (daemon_) co_await daemon_->stop(std::move(reason));
  }

 private:
  static Failure failure(const Error& error) { return daemon_failure(Plm::bad_environment, error); }

  Result<void> make(const Executor& loop) {
    PLIM_TRY(auto client, kube::Client::create(loop, settings_.cluster));
    std::unique_ptr<servo::Receiver> receiver;
    if (settings_.servo.posts()) {
      PLIM_TRY(receiver, servo::HttpReceiver::create(loop, settings_.servo, settings_.ca_pem,
                                                     settings_.proxy, system_clock()));
    }
    daemon_ = std::make_unique<servo::Daemon>(loop, settings_.servo, std::move(client),
                                              std::move(receiver), metrics::default_registry(),
                                              system_clock());
    return {};
  }

  ServoSettings settings_;
  std::unique_ptr<servo::Daemon> daemon_;
};

}  // namespace

std::string default_servo_store(const kube::GetEnv& env) {
  if (make_durable_directories(kStateOfRoles) && make_durable_directories(kServoState, 0700) &&
      ::access(kServoState, W_OK) == 0)
    return kServoState;
  std::string state = env("XDG_STATE_HOME").value_or("");
  if (state.empty()) state = env("HOME").value_or("/tmp") + "/.local/state";
  return state + "/plimsoll/servo";
}

Outcome<int> run_servo(ServoSettings settings) {
  return run_role("servo", std::make_unique<ServoRole>(std::move(settings)));
}

}  // namespace plim::roles
