// The servo as a daemon.
#pragma once

#include <string>

#include "kube/config.hpp"
#include "roles/errors.hpp"
#include "servo/settings.hpp"

namespace plim::roles {

struct ServoSettings {
  servo::Settings servo;
  kube::Config cluster;
  std::string ca_pem = {};  // CA certificates of the receiver; "": the system's
  std::string proxy = {};   // between the servo and the receiver; "": none
};

// The default directory for runs: /var/lib/plimsoll/servo if it is writable, else a directory of
// the user.
std::string default_servo_store(const kube::GetEnv& env);

// Runs until SIGTERM or SIGINT.
Outcome<int> run_servo(ServoSettings settings);

}  // namespace plim::roles
