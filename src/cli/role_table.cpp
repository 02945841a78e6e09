// The one table of roles that `plimsoll up --roles` starts. A new role: its row here, and its
// function that makes the command line.
#include <array>

#include "cli/agent_role.hpp"
#include "cli/role_children.hpp"
#include "cli/scheduler_role.hpp"
#include "cli/servo_role.hpp"
#include "cli/webhook_role.hpp"

namespace plim::cli {
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

}  // namespace plim::cli
