// The servo's settings, from environment variables and flags.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "loop/application_id.hpp"
#include "servo/url_template.hpp"

namespace plim::servo {

enum class Sink {
  post,   // send; delete a sent run as soon as its key is not needed
  store,  // store, send nothing
  both,
};

// The namespaces that the servo watches.
struct Namespaces {
  std::vector<std::string> names;  // empty: all

  bool all() const { return names.empty(); }

  bool contains(std::string_view ns) const;
};

// Decides which pods are jobs, and which of their containers is measured.
struct JobRules {
  Namespaces namespaces;
  loop::AppIdPath app_id;
  std::string container = "0";  // name or index of the measured container
};

// The container that the webhook adds to jobs. It reports the resources that the job used.
struct Monitor {
  std::string image;   // "": none
  std::string target;  // address or host name it reports to, as in a URL; "": it does not report
};

struct Settings {
  std::optional<UrlTemplate> url;  // none: nothing is posted
  std::string account;
  std::string token;
  std::string token_file;  // takes precedence over `token`
  JobRules jobs;
  Sink sink = Sink::both;
  std::string store;  // directory
  std::string listen;
  bool extra = false;         // send extra metrics
  std::string monitor_image;  // only logged: the webhook adds monitors to pods
  int debug = 0;

  bool posts() const { return url.has_value() && sink != Sink::store; }
};

// Returns the value of a variable such as OPTUNE_URL, POD_NAMESPACES or PLIMSOLL_SERVO_STORE.
using GetSetting = std::function<std::optional<std::string>(std::string_view variable)>;

// Errors name the variable.
Result<Settings> read_settings(const GetSetting& get);
// The settings of the webhook: OPTUNE_APP_ID, POD_NAMESPACES and PLIMSOLL_SERVO_CONTAINER, and
// OPTUNE_SLEEPER_IMG with SELF_IP, which may also be the host name of the servo's Service.
Result<JobRules> read_job_rules(const GetSetting& get);
Result<Monitor> read_monitor(const GetSetting& get);

// A list with commas. Trims blanks and ignores empty items. "" means "default", "*" all.
Result<Namespaces> parse_namespaces(std::string_view text);

// Fails if a Bearer header cannot carry the token. The error does not quote the token.
Result<void> check_token(std::string_view token);

}  // namespace plim::servo
