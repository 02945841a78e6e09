// Serves the kinds that CustomResourceDefinitions describe.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "base/clock.hpp"
#include "base/task.hpp"
#include "kube/client.hpp"
#include "local/apiserver/api/api_server.hpp"
#include "local/apiserver/api/hooks.hpp"
#include "local/store/store.hpp"

namespace plim::local::apiserver {

// Follows the definitions in the store: adds their kinds to the server, writes to their status
// whether they are accepted, and removes the objects of deleted ones. Belongs to the server's loop;
// outlives the server, and is stopped before it.
class CustomResources {
 public:
  // Adds itself to the hooks of the server, so that definitions are checked when they are written.
  static std::unique_ptr<CustomResources> install(Executor loop, Clock& clock, store::Store& store,
                                                  ApiServer& server);
  CustomResources(const CustomResources&) = delete;
  CustomResources& operator=(const CustomResources&) = delete;

  // Serves all definitions in the store, and later ones as they are created.
  void start();
  Task<void> stop();

  bool is_definition(const Kind& kind) const;
  Task<ApiResult<void>> complete(AdmissionPtr admission);
  Task<ApiResult<void>> validate(AdmissionPtr admission);

 private:
  struct Served {
    std::string group, plural;
    json::value spec;
  };

  CustomResources(Executor loop, Clock& clock, store::Store& store, ApiServer& server);
  json::value definition(const std::string& name) const;  // null if there is none

  // Why its names cannot be used: a reason and a message; empty if they can.
  std::pair<std::string, std::string> conflict(const json::value& definition) const;
  void serve(const std::string& name, const json::value& definition);
  void withdraw(const std::string& name);

  Task<void> follow(store::Revision from);
  Task<void> settle(std::string name);
  Task<void> settle_all();
  Task<void> remove_with_objects(std::string name);
  // False if some of them still exist.
  Task<bool> remove_objects(json::value definition);
  json::value status_for(const json::value& definition) const;

  Clock& clock_;
  store::Store& store_;
  Kinds& kinds_;
  std::shared_ptr<kube::Client> client_;
  KindPtr definitions_;
  std::map<std::string, Served> served_;  // by the definition's name
  std::set<std::string> leaving_;         // definitions whose objects are being removed
  TaskGroup tasks_;
};

}  // namespace plim::local::apiserver
