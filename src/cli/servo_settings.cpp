#include "cli/servo_settings.hpp"

#include <array>

namespace plim::cli {
namespace {

constexpr std::array kServoVariables{
    std::pair{std::string_view("OPTUNE_URL"), std::string_view("optune-url")},
    std::pair{std::string_view("OPTUNE_ACCOUNT"), std::string_view("optune-account")},
    std::pair{std::string_view("OPTUNE_AUTH_TOKEN_FILE"),
              std::string_view("optune-auth-token-file")},
    std::pair{std::string_view("POD_NAMESPACES"), std::string_view("pod-namespaces")},
    std::pair{std::string_view("OPTUNE_APP_ID"), std::string_view("optune-app-id")},
    std::pair{std::string_view("OPTUNE_SLEEPER_IMG"), std::string_view("optune-sleeper-img")},
    std::pair{std::string_view("SELF_IP"), std::string_view("self-ip")},
    std::pair{std::string_view("PLIMSOLL_SERVO_SINK"), std::string_view("sink")},
    std::pair{std::string_view("PLIMSOLL_SERVO_STORE"), std::string_view("store")},
    std::pair{std::string_view("PLIMSOLL_SERVO_LISTEN"), std::string_view("listen")},
    std::pair{std::string_view("PLIMSOLL_SERVO_CONTAINER"), std::string_view("container")},
};

std::optional<std::string> setting_of(const Context& context, std::string_view variable) {
  if (variable == "PLIMSOLL_SERVO_EXTRA") return context.values.boolean("extra") ? "1" : "0";
  for (const auto& [name, flag] : kServoVariables)
    if (name == variable && find_flag(&context.command, flag) != nullptr &&
        context.values.given(flag))
      return context.values.text(flag);
  return context.world.env(variable);
}

}  // namespace

servo::GetSetting servo_setting(const Context& context) {
  return [&context](std::string_view variable) { return setting_of(context, variable); };
}

}  // namespace plim::cli
