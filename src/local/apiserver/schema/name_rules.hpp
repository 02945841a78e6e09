// Rules for names. Each returns a list of mistakes, with upstream's messages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace plim::local::apiserver {

using Messages = std::vector<std::string>;

Messages check_dns_subdomain(std::string_view name);   // "a.b-c", at most 253
Messages check_dns_label(std::string_view name);       // "b-c", at most 63
Messages check_dns_1035_label(std::string_view name);  // the same, not starting with a digit
Messages check_path_segment(std::string_view name);    // anything that is valid in a URL
Messages check_qualified_name(std::string_view name);  // "example.com/Some_name"
Messages check_label_text(std::string_view value);     // the value of a label
Messages check_port_name(std::string_view name);       // at most 15
Messages check_config_key(std::string_view key);       // of ConfigMaps and Secrets
Messages check_variable_name(std::string_view name);   // of environment variables

using NameRule = Messages (*)(std::string_view name);

// The rule of a kind, also for kinds that we do not serve.
NameRule name_rule(std::string_view group, std::string_view kind);

}  // namespace plim::local::apiserver
