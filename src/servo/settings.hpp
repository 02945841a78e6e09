// What the servo is told by its environment and flags.
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
  post,   // send; what was sent is kept only as long as its key must be known
  store,  // keep, send nothing
  both,
};

// Which namespaces are looked at: named ones, or all.
struct Namespaces {
  std::vector<std::string> names;  // empty: all

  bool all() const { return names.empty(); }

  bool contains(std::string_view ns) const;
};

// Which pods are jobs, and which of their containers is measured.
struct JobRules {
  Namespaces namespaces;
  loop::AppIdPath app_id;
  std::string container = "0";  // name or index of the measured one
};

// The container that is added to jobs so that somebody can tell what they used.
struct Monitor {
  std::string image;   // "": none
  std::string target;  // where it reports: an address or a name, as it stands in a URL; "": nowhere
};

struct Settings {
  std::optional<UrlTemplate> url;  // none: nothing is posted
  std::string account;
  std::string token;
  std::string token_file;  // wins over token
  JobRules jobs;
  Sink sink = Sink::both;
  std::string store;  // directory
  std::string listen;
  bool extra = false;         // send extra metrics
  std::string monitor_image;  // only told of: the webhook adds monitors to pods
  int debug = 0;

  bool posts() const { return url.has_value() && sink != Sink::store; }
};

// `get` is asked by the names of variables: OPTUNE_URL, POD_NAMESPACES, PLIMSOLL_SERVO_STORE.
using GetSetting = std::function<std::optional<std::string>(std::string_view variable)>;

// Errors name the variable.
Result<Settings> read_settings(const GetSetting& get);
// What the webhook needs of them: OPTUNE_APP_ID, POD_NAMESPACES and PLIMSOLL_SERVO_CONTAINER, and
// OPTUNE_SLEEPER_IMG with SELF_IP, which there may also be the name of the servo's Service.
Result<JobRules> read_job_rules(const GetSetting& get);
Result<Monitor> read_monitor(const GetSetting& get);

// Blanks trimmed, empty items ignored, nothing at all: default; "*": all.
Result<Namespaces> parse_namespaces(std::string_view text);

// What a Bearer header can carry; the error never quotes the token.
Result<void> check_token(std::string_view token);

}  // namespace plim::servo
