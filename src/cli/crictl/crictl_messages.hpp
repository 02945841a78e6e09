// Messages of the container runtime interface as JSON, with the names and the order of fields that
// crictl prints.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"

namespace plim::cli {

struct CrictlFilter {
  std::string id = {}, pod = {};
  std::string state = {};  // "running", "ready", …; "": any
  std::map<std::string, std::string> labels = {};
};

std::string list_images_request(const std::string& image);
std::string image_status_request(const std::string& image);
Result<std::string> list_containers_request(const CrictlFilter& filter);
Result<std::string> list_pods_request(const CrictlFilter& filter);
std::string status_request(bool verbose);

Result<json::array> images_of_response(const std::string& bytes);
// Null if the runtime has no such image.
Result<json::value> image_of_response(const std::string& bytes);
Result<json::array> containers_of_response(const std::string& bytes);
Result<json::array> pods_of_response(const std::string& bytes);
Result<json::object> status_of_response(const std::string& bytes);
Result<json::object> version_of_response(const std::string& bytes);

}  // namespace plim::cli
