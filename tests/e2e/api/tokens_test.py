#!/usr/bin/env python3
"""A TokenReview answers for the audiences that were asked for, and no service can use a token that another one received."""
import unittest

from server_under_test import ApiCase

REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews"


class Tokens(ApiCase):
    def token(self, *audiences):
        path = f"/api/v1/namespaces/{self.ns}/serviceaccounts/default/token"
        return self.api.must("POST", path, {"spec": {"audiences": list(audiences)}})["status"]["token"]

    def review(self, token, *audiences):
        return self.api.must("POST", REVIEWS, {"spec": {"token": token, "audiences": list(audiences)}})["status"]

    def test_a_token_is_for_its_own_audiences(self):
        api, services = self.token(), self.token("vault", "shop")
        own = self.review(api)
        self.assertTrue(own["authenticated"])
        self.assertEqual(len(own["audiences"]), 1)
        for token, asked in ((api, ("vault",)), (services, ()), (services, ("bank",)), (services, tuple(own["audiences"]))):
            refused = self.review(token, *asked)
            self.assertFalse(refused.get("authenticated", False), asked)
            self.assertNotIn("audiences", refused)
            self.assertEqual(refused["user"], {})
            self.assertIn("is invalid for the target audiences", refused["error"])
        found = self.review(services, "bank", "shop", "vault")
        self.assertTrue(found["authenticated"])
        self.assertEqual(sorted(found["audiences"]), ["shop", "vault"])
        self.assertEqual(found["user"]["username"], f"system:serviceaccount:{self.ns}:default")

    def test_a_token_for_a_service_does_not_open_the_api(self):
        path = f"/api/v1/namespaces/{self.ns}/pods"
        self.assertEqual(self.api.anonymous(path, Authorization=f"Bearer {self.token('vault')}").code, 401)
        self.assertNotEqual(self.api.anonymous(path, Authorization=f"Bearer {self.token()}").code, 401)


if __name__ == "__main__":
    unittest.main()
