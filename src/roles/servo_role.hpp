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
  std::string ca_pem = {};  // authorities of the receiver; "": those of the system
  std::string proxy = {};   // between the servo and the receiver; "": none
};

// The directory for runs if no setting names one: /var/lib/plimsoll/servo where that is writable,
// else a directory of the user's.
std::string default_servo_store(const kube::GetEnv& env);

// Until SIGTERM or SIGINT.
Outcome<int> run_servo(ServoSettings settings);

}  // namespace plim::roles
