#include "local/cluster/kubeconfig_file.hpp"

#include <algorithm>
#include <filesystem>
#include <sys/stat.h>

#include <fmt/format.h>

#include "base/base64.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/yaml.hpp"

namespace plim::local::cluster {
namespace {

constexpr std::size_t kLargest = std::size_t{16} << 20;

json::object named(std::string_view name, std::string_view what, json::object value) {
  return {{"name", name}, {what, std::move(value)}};
}

json::object cluster_of(const KubeconfigEntry& entry) {
  json::object cluster{{"certificate-authority-data", base64_encode(entry.ca_pem)},
                       {"server", entry.server}};
  return named(entry.name, "cluster", std::move(cluster));
}

json::object context_of(const KubeconfigEntry& entry) {
  json::object context{{"cluster", entry.name}, {"user", entry.name}};
  return named(entry.name, "context", std::move(context));
}

json::object user_of(const KubeconfigEntry& entry) {
  json::object user{{"client-certificate-data", base64_encode(entry.client.certificate_pem)},
                    {"client-key-data", base64_encode(entry.client.key_pem)}};
  return named(entry.name, "user", std::move(user));
}

Result<json::array*> list_of(json::object& config, std::string_view key) {
  json::value& list = config[key];
  if (list.is_null()) list = json::array();
  if (!list.is_array()) return fail(Code::invalid, fmt::format("{} is not a list", key));
  return &list.as_array();
}

auto by_name(std::string_view name) {
  return [name](const json::value& item) { return text_at(item, {"name"}) == name; };
}

Result<void> put(json::object& config, std::string_view key, json::object item) {
  PLIM_TRY(json::array * list, list_of(config, key));
  std::string name(text_at(item, {"name"}));
  auto found = std::ranges::find_if(*list, by_name(name));
  if (found == list->end()) {
    list->push_back(std::move(item));
  } else {
    *found = std::move(item);
  }
  return {};
}

struct UserFile {
  std::string path;  // with symbolic links followed
  bool exists = false;
  std::string text;
  json::object config;
};

Result<UserFile> read_user_file(const std::string& path) {
  UserFile out{.path = path, .exists = false, .text = {}, .config = {}};
  std::error_code problem;
  auto real = std::filesystem::canonical(path, problem);
  if (!problem) out.path = real.string();
  auto text = read_file(out.path, kLargest);
  if (!text && text.error().code != Code::not_found) return text.error();
  if (!text) return out;
  out.exists = true;
  out.text = *text;
  PLIM_TRY(json::value value, parse_yaml(*text, path));
  if (value.is_null()) return out;
  if (!value.is_object()) return fail(Code::invalid, fmt::format("{} is not a kubeconfig", path));
  out.config = std::move(value.as_object());
  return out;
}

Result<void> write_user_file(const UserFile& file) {
  if (file.exists) PLIM_CHECK(write_file(file.path + ".plimsoll-backup", file.text));
  return write_file(file.path, to_yaml(file.config));
}

}  // namespace

std::string kubeconfig_text(const KubeconfigEntry& entry) {
  json::object config{{"apiVersion", "v1"},
                      {"kind", "Config"},
                      {"clusters", json::array{cluster_of(entry)}},
                      {"contexts", json::array{context_of(entry)}},
                      {"current-context", entry.name},
                      {"preferences", json::object()},
                      {"users", json::array{user_of(entry)}}};
  return to_yaml(config);
}

Result<void> merge_kubeconfig(const std::string& path, const KubeconfigEntry& entry) {
  auto slash = path.find_last_of('/');
  if (slash != path.npos && slash > 0) PLIM_CHECK(make_directories(path.substr(0, slash), 0700));
  PLIM_TRY(UserFile file, read_user_file(path));
  json::object& config = file.config;
  if (!config.contains("apiVersion")) config["apiVersion"] = "v1";
  if (!config.contains("kind")) config["kind"] = "Config";
  auto merged = put(config, "clusters", cluster_of(entry));
  if (merged) merged = put(config, "contexts", context_of(entry));
  if (merged) merged = put(config, "users", user_of(entry));
  if (!merged) return merged.error().with_context(path);
  config["current-context"] = entry.name;
  return write_user_file(file);
}

Result<void> unmerge_kubeconfig(const std::string& path, std::string_view name) {
  PLIM_TRY(UserFile file, read_user_file(path));
  bool changed = false;
  for (std::string_view key : {"clusters", "contexts", "users"}) {
    json::value* list = file.config.if_contains(key);
    if (list == nullptr || !list->is_array()) continue;
    json::array kept;
    for (json::value& item : list->as_array())
      if (!by_name(name)(item)) kept.push_back(std::move(item));
    changed = changed || kept.size() != list->as_array().size();
    *list = std::move(kept);
  }
  if (!changed) return {};
  if (text_at(file.config, {"current-context"}) == name) file.config["current-context"] = "";
  return write_user_file(file);
}

}  // namespace plim::local::cluster
