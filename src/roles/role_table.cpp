// The table of roles that `plimsoll up --roles` starts. To add a role, add a row here and a
// function that builds its command line.
#include <array>

#include "roles/agent_launch.hpp"
#include "roles/role_children.hpp"
#include "roles/scheduler_launch.hpp"
#include "roles/servo_launch.hpp"
#include "roles/webhook_launch.hpp"

namespace plim::roles {
namespace {

constexpr std::array kRoles{
    RoleRow{.name = "agent", .process = "agent", .per_node = true, .launch = launch_agent},
    RoleRow{.name = "images", .process = "agent", .per_node = true, .launch = launch_agent},
    RoleRow{.name = "pools", .process = "agent", .per_node = true, .launch = launch_agent},
    RoleRow{.name = "scheduler", .process = "scheduler", .launch = launch_scheduler},
    RoleRow{.name = "servo", .process = "servo", .launch = launch_servo},
    RoleRow{.name = "webhook",
            .process = "webhook",
            .launch = launch_webhook,
            .prepare = register_webhook,
            .withdraw = withdraw_webhook},
};

}  // namespace

std::span<const RoleRow> role_rows() {
  return kRoles;
}

}  // namespace plim::roles
