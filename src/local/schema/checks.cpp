#include "local/schema/checks.hpp"

#include <fmt/format.h>

namespace plim::local {

const json::array& array_at(const json::value& value,
                            std::initializer_list<std::string_view> path) {
  static const json::array kNone;
  const json::value* found = find(value, path);
  return found != nullptr && found->is_array() ? found->get_array() : kNone;
}

const json::object& object_at(const json::value& value,
                              std::initializer_list<std::string_view> path) {
  static const json::object kNone;
  const json::value* found = find(value, path);
  return found != nullptr && found->is_object() ? found->get_object() : kNone;
}

const json::value& value_at(const json::value& value,
                            std::initializer_list<std::string_view> path) {
  static const json::value kNone;
  const json::value* found = find(value, path);
  return found != nullptr ? *found : kNone;
}

void check_port(const json::value& owner, std::string_view field, const std::string& path,
                Causes& causes) {
  auto port = int_at(owner, {field});
  if (port && (*port < 1 || *port > 65535))
    causes.invalid(fmt::format("{}.{}", path, field), *port,
                   "must be between 1 and 65535, inclusive");
}

void check_protocol(const json::value& owner, const std::string& path, Causes& causes) {
  std::string_view protocol = text_at(owner, {"protocol"});
  if (protocol.empty()) return causes.required(path + ".protocol");
  if (protocol != "TCP" && protocol != "UDP" && protocol != "SCTP")
    causes.not_supported(path + ".protocol", protocol, {"SCTP", "TCP", "UDP"});
}

void check_not_negative(const json::value& owner, std::string_view field, const std::string& path,
                        Causes& causes) {
  auto value = int_at(owner, {field});
  if (value && *value < 0) causes.invalid(fmt::format("{}.{}", path, field), *value, kNotNegative);
}

void check_immutable(const json::value& object, const json::value& before,
                     std::initializer_list<std::string_view> path, Causes& causes) {
  const json::value& now = value_at(object, path);
  if (now != value_at(before, path))
    causes.invalid(fmt::format("{}", fmt::join(path, ".")), now, kImmutable);
}

}  // namespace plim::local
