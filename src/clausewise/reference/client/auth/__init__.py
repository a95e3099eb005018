"""How the reference client gets access tokens: OAuth 2.1 as the authorization pages have it."""
