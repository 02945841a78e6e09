#include "servo/settings.hpp"

#include <algorithm>
#include <arpa/inet.h>

#include <fmt/format.h>

#include "base/text.hpp"

namespace plim::servo {
namespace {

constexpr std::string_view kDefaultUrl =
    "https://us-central1-optune-saas-collect.cloudfunctions.net/metrics/{acct}/{app_id}/servo";
constexpr std::string_view kDefaultPath = "spec/containers/0/env/[JOBID]";

Result<void> check_namespace(std::string_view name) {
  auto fits = [](char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || c == '-'; };
  if (!name.empty() && name.size() <= 63 && std::ranges::all_of(name, fits) &&
      !name.starts_with('-') && !name.ends_with('-'))
    return {};
  return fail(Code::invalid, fmt::format("{} is not a valid namespace name", quote(name)));
}

// Accepts an index or a valid container name.
Result<std::string> check_container(std::string text) {
  auto fits = [](char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || c == '-'; };
  if (text.size() <= 63 && std::ranges::all_of(text, fits) && !text.starts_with('-') &&
      !text.ends_with('-'))
    return text;
  return fail(Code::invalid,
              fmt::format("{} is neither a container name nor an index", quote(text)));
}

Result<Sink> parse_sink(std::string_view text) {
  if (text == "post") return Sink::post;
  if (text == "store") return Sink::store;
  if (text == "both") return Sink::both;
  return fail(Code::invalid, fmt::format("expected post, store or both, found {}", quote(text)));
}

bool is_ip_address(const std::string& text) {
  in6_addr ignored{};
  return ::inet_pton(AF_INET, text.c_str(), &ignored) == 1 ||
         ::inet_pton(AF_INET6, text.c_str(), &ignored) == 1;
}

bool is_host_name(std::string_view text) {
  auto fits = [](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '.';
  };
  return text.size() <= 253 && std::ranges::all_of(text, fits) && !text.starts_with('-') &&
         !text.starts_with('.');
}

bool is_graphic(char c) {
  return c > ' ' && c < 0x7f;
}

class Reader {
 public:
  explicit Reader(const GetSetting& get) : get_(get) {}

  // Unset and empty are the same: a manifest cannot unset a variable.
  std::string text(std::string_view name, std::string_view fallback = "") const {
    auto value = get_(name);
    return value && !value->empty() ? *value : std::string(fallback);
  }

  bool given(std::string_view name) const { return !text(name).empty(); }

  template <class T>
  static Result<T> named(std::string_view name, Result<T> result) {
    if (!result) return result.error().with_context(name);
    return result;
  }

 private:
  const GetSetting& get_;
};

}  // namespace

bool Namespaces::contains(std::string_view ns) const {
  return all() || std::ranges::find(names, ns) != names.end();
}

Result<Namespaces> parse_namespaces(std::string_view text) {
  Namespaces out;
  for (std::string_view item : split(text, ',')) {
    item = trim(item);
    if (item == "*") return Namespaces{};
    if (item.empty() || std::ranges::find(out.names, item) != out.names.end()) continue;
    PLIM_CHECK(check_namespace(item));
    out.names.emplace_back(item);
  }
  if (out.names.empty()) out.names.emplace_back("default");
  return out;
}

Result<void> check_token(std::string_view token) {
  auto bad = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (std::ranges::none_of(token, bad)) return {};
  return fail(Code::invalid, "the token contains a line break or another control character");
}

Result<JobRules> read_job_rules(const GetSetting& get) {
  const Reader reader(get);
  JobRules out;
  PLIM_TRY(out.app_id, Reader::named("OPTUNE_APP_ID", loop::AppIdPath::parse(reader.text(
                                                          "OPTUNE_APP_ID", kDefaultPath))));
  PLIM_TRY(out.namespaces,
           Reader::named("POD_NAMESPACES", parse_namespaces(reader.text("POD_NAMESPACES"))));
  PLIM_TRY(out.container,
           Reader::named("PLIMSOLL_SERVO_CONTAINER",
                         check_container(reader.text("PLIMSOLL_SERVO_CONTAINER", "0"))));
  return out;
}

Result<Monitor> read_monitor(const GetSetting& get) {
  const Reader reader(get);
  Monitor out{.image = reader.text("OPTUNE_SLEEPER_IMG"), .target = reader.text("SELF_IP")};
  if (!std::ranges::all_of(out.image, is_graphic))
    return fail(Code::invalid,
                fmt::format("OPTUNE_SLEEPER_IMG: {} is not an image name", quote(out.image)));
  if (out.target.empty()) return out;
  if (!is_ip_address(out.target) && !is_host_name(out.target))
    return fail(Code::invalid, fmt::format("SELF_IP: {} is neither an IP address nor a host name",
                                           quote(out.target)));
  // The monitor appends a port.
  if (out.target.find(':') != out.target.npos) out.target = fmt::format("[{}]", out.target);
  return out;
}

Result<Settings> read_settings(const GetSetting& get) {
  const Reader reader(get);
  Settings out;
  PLIM_TRY(out.jobs, read_job_rules(get));
  out.account = reader.text("OPTUNE_ACCOUNT");
  out.token = reader.text("OPTUNE_AUTH_TOKEN");
  out.token_file = reader.text("OPTUNE_AUTH_TOKEN_FILE");
  // The old default address belongs to no service now: it is used only if an account is set.
  if (reader.given("OPTUNE_URL") || !out.account.empty()) {
    PLIM_TRY(out.url,
             Reader::named("OPTUNE_URL", UrlTemplate::parse(reader.text("OPTUNE_URL", kDefaultUrl),
                                                            out.account)));
  }
  PLIM_CHECK(Reader::named("OPTUNE_AUTH_TOKEN", check_token(out.token)));
  PLIM_TRY(out.sink, Reader::named("PLIMSOLL_SERVO_SINK",
                                   parse_sink(reader.text("PLIMSOLL_SERVO_SINK", "both"))));
  out.store = reader.text("PLIMSOLL_SERVO_STORE");
  out.listen = reader.text("PLIMSOLL_SERVO_LISTEN", ":8080");
  out.extra = reader.text("PLIMSOLL_SERVO_EXTRA") == "1";
  out.debug = std::clamp(parse_int(reader.text("OPTUNE_DEBUG", "0")).value_or(0), 0, 5);
  const std::string self = reader.text("SELF_IP");
  if (!self.empty() && !is_ip_address(self))
    return fail(Code::invalid, fmt::format("SELF_IP: {} is not an IP address", quote(self)));
  out.monitor_image = reader.text("OPTUNE_SLEEPER_IMG");
  return out;
}

}  // namespace plim::servo
